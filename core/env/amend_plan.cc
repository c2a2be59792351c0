// SPDX-License-Identifier: Apache-2.0
#include "core/env/amend_plan.h"

#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "core/env/short_json.h"
#include "core/policy/decide.h"

namespace nccl_tune::env {
namespace {

using base::Json;

// Every variable that the plan or a rule knows, also as an opposite.
std::set<std::string> KnownNames(const PlanSummary& plan) {
  std::set<std::string> out;
  for (const auto& rule : policy::Rules()) {
    out.emplace(rule.variable);
    for (const auto& name : policy::SplitNames(rule.opposites)) out.emplace(name);
  }
  for (const auto& [name, value] : plan.set) out.insert(name);
  return out;
}

// An object with the members that `amendment` sets.
Json OnlySet(const Json& object, const Amendment& amendment) {
  Json out = Json::object();
  for (const auto& [name, value] : object.items()) {
    if (amendment.set.contains(name)) out[name] = value;
  }
  return out;
}

}  // namespace

Amendment AmendPlan(const PlanSummary& plan, const Environment& before, const LookupNow& now) {
  Amendment out;
  out.set = StillRight(plan.set, before, now);
  for (const auto& name : plan.forced) {
    if (const auto value = base::Lookup(plan.set, name)) out.set.emplace(name, *value);
  }
  for (const auto& name : KnownNames(plan)) {
    if (out.set.contains(name)) continue;
    const auto value = now(name);
    if (value && value != base::Lookup(before, name)) out.kept.emplace(name, *value);
    if (!value && plan.set.contains(name)) out.left_out.insert(name);
  }
  return out;
}

std::string AmendJson(std::string_view json, const Amendment& amendment) {
  auto parsed = base::ParseJson(json);
  if (amendment.IsEmpty() || !parsed.ok() || !parsed->is_object()) return std::string(json);
  Json plan = std::move(parsed).value();
  plan["set"] = OnlySet(base::GetMember(plan, "set"), amendment);
  if (plan.contains("why")) plan["why"] = OnlySet(plan["why"], amendment);
  Json kept = base::GetMember(plan, "kept");
  if (!kept.is_object()) kept = Json::object();
  for (const auto& [name, value] : amendment.kept) kept[name] = value;
  if (!kept.empty()) plan["kept"] = std::move(kept);
  return ShortJson(std::move(plan)).value_or(std::string(json));
}

std::string DescribeAmendment(const Amendment& amendment) {
  if (amendment.IsEmpty()) return "";
  std::string out = "since this plan was made";
  std::string separator = " a container or another plugin has set ";
  for (const auto& [name, value] : amendment.kept) {
    out += separator + name + "=" + base::Printable(value);
    separator = ", ";
  }
  if (!amendment.kept.empty()) out += ", which stays";
  separator = amendment.kept.empty() ? ": left unset " : "; left unset with it: ";
  for (const auto& name : amendment.left_out) {
    out += separator + name;
    separator = ", ";
  }
  return out;
}

}  // namespace nccl_tune::env
