// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/plan_properties.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/env/plan.h"
#include "core/nccl/check_value.h"
#include "core/nccl/conf_file.h"
#include "core/nccl/name_list.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/decide.h"
#include "report/explain.h"
#include "report/facts_text.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

bool IsOfTheRules(std::string_view name) {
  const auto rules = policy::Rules();
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.variable == name; });
}

bool HasPort(const facts::Node& node, const nccl::NameListEntry& entry) {
  return std::any_of(node.hcas.begin(), node.hcas.end(), [&](const auto& hca) {
    return hca.name == entry.name &&
           std::any_of(hca.ports.begin(), hca.ports.end(), [&](const auto& port) { return port.number == entry.port; });
  });
}

void RequireHcaList(const facts::Node& node, const std::string& value) {
  const auto list = nccl::ParseHcaList(value, {2, 28, 0});
  Require(list.exact && !list.exclude && list.dropped == 0, "an HCA list is exact and whole", value);
  for (const auto& entry : list.entries) Require(HasPort(node, entry), "an HCA list names ports of the node", value);
}

void RequireInterface(const facts::Node& node, const std::string& value) {
  Require(value.starts_with('='), "an interface is named exactly", value);
  const auto named = [&](const auto& netdev) { return netdev.name == value.substr(1); };
  Require(std::any_of(node.netdevs.begin(), node.netdevs.end(), named), "the interface exists", value);
}

void RequireSoundValues(const facts::Node& node, const base::Environment& values) {
  for (const auto& [name, value] : values) {
    Require(IsOfTheRules(name), "only variables of the rules are set", name);
    Require(IsPrintableLine(value), "a value is one printable line", name + "=" + value);
    const auto check = nccl::CheckValue(name, value);
    Require(check.ok(), "every value is legal", check.ok() ? "" : check.error().ToString());
    if (name == "NCCL_IB_HCA") RequireHcaList(node, value);
    if (name == "NCCL_SOCKET_IFNAME") RequireInterface(node, value);
  }
}

void RequireLines(const std::string& text) {
  Require(text.empty() || text.ends_with('\n'), "a text ends with a line end", text);
  Require(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }),
          "a text is printable", text);
}

// The plan as it travels, read back.
void RequireSameAfterTravel(const env::Plan& plan, const base::Environment& values) {
  const auto json = env::PlanToJson(plan);
  if (!json.ok()) return RequireReadable(json.error());
  Require(IsPrintableLine(*json), "a plan in a variable is one printable line", *json);
  const auto back = env::ParsePlan(*json);
  Require(back.ok(), "a plan can be read back", back.ok() ? "" : back.error().ToString());
  Require(back->set == values, "a plan is read back as it was", *json);
  Require(back->ports.size() == plan.ports.size(), "a plan keeps its ports", *json);
}

void RequireSoundTexts(const report::Explanation& all, const facts::Node& node, const base::Environment& values) {
  RequireLines(report::ExplainText(all));
  RequireLines(report::SummaryText(all, "node1: "));
  RequireLines(report::EnvShell(values));
  RequireLines(report::EnvConf(values));
  RequireLines(report::FactsText(node, {}, {}));
  for (const auto& text : {report::ExplainJson(all), report::EnvJson(values), report::FactsJson(node, {}, {})}) {
    RequireLines(text);
    Require(base::ParseJson(text).ok(), "JSON can be read", text);
  }
}

}  // namespace

void RequireSoundPlan(const facts::Node& node, const base::Environment& user, Texts texts) {
  const auto settings = nccl::MergeSettings(user, {});
  const auto plan = env::MakePlan("node1", policy::Assess(node), settings);
  const auto values = env::ValuesOf(plan);
  RequireSoundValues(node, values);
  for (const auto& setting : plan.settings) {
    Require(!setting.decision.reason.empty(), "every decision has a reason", setting.decision.variable);
    const bool sets = setting.action == env::Action::kSet;
    Require(!sets || !user.contains(setting.decision.variable) || user.contains(env::kPlanVariable),
            "what the user has set stays", setting.decision.variable);
  }
  RequireSameAfterTravel(plan, values);
  const auto again = env::MakePlan("node1", policy::Assess(node), settings);
  Require(env::ValuesOf(again) == values, "the same twice");
  if (texts == Texts::kNone) return;
  const auto all = report::Explain(node, plan, nccl::kAssumedVersion);
  RequireSoundTexts(all, node, values);
  Require(report::ExplainJson(all) == report::ExplainJson(report::Explain(node, again, nccl::kAssumedVersion)),
          "the same twice");
}

}  // namespace nccl_tune::fuzz
