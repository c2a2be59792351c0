// SPDX-License-Identifier: Apache-2.0
//
// NCCL_TUNE_PLAN: PlanToJson and ParsePlan (docs/formats.md, "Plan of a node").
#include <limits>
#include <utility>

#include "base/json.h"
#include "core/env/plan.h"
#include "core/env/short_json.h"

namespace nccl_tune::env {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::Result;

constexpr int kVersion = 1;

Json PortsToJson(const std::vector<PlanPort>& ports) {
  Json out = Json::array();
  for (const auto& port : ports) {
    Json entry;
    entry["hca"] = port.hca;
    entry["port"] = port.port;
    entry["link"] = port.link;
    if (port.gbps) entry["gbps"] = *port.gbps;
    if (port.netdev) entry["netdev"] = *port.netdev;
    if (port.gid) entry["gid"] = *port.gid;
    out.push_back(std::move(entry));
  }
  return out;
}

Json ToJson(const Plan& plan) {
  Json out;
  out["v"] = kVersion;
  if (!plan.node.empty()) out["node"] = plan.node;
  out["set"] = Json::object();
  Json kept = Json::object();
  Json why = Json::object();
  for (const auto& setting : plan.settings) {
    const std::string& name = setting.decision.variable;
    if (setting.action == Action::kSet) out["set"][name] = *setting.decision.value;
    if (setting.action == Action::kKeep) kept[name] = setting.user_value;
    if (setting.action == Action::kSet) why[name] = setting.decision.reason;
  }
  if (!kept.empty()) out["kept"] = std::move(kept);
  if (!plan.forced.empty()) out["forced"] = plan.forced;
  if (!plan.removed.empty()) out["removed"] = plan.removed;
  out["ports"] = PortsToJson(plan.ports);
  if (plan.interface) out["if"] = *plan.interface;
  if (plan.address) out["addr"] = *plan.address;
  out["why"] = std::move(why);
  return out;
}

// A small integer, or nothing.
std::optional<int> GetInt(const Json& json, std::string_view key) {
  const auto value = base::GetInteger(json, key);
  if (!value || *value < 0 || *value > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*value);
}

Result<PlanPort> ReadPort(const Json& entry) {
  PlanPort out;
  const auto hca = base::GetString(entry, "hca");
  const auto port = GetInt(entry, "port");
  if (!hca || !port) return Error{.code = Code::kInvalidInput, .what = "port without hca or port"};
  out.hca = *hca;
  out.port = *port;
  out.link = base::GetString(entry, "link").value_or("");
  const Json& gbps = base::GetMember(entry, "gbps");
  if (gbps.is_number()) out.gbps = gbps.get<double>();  // cannot throw: it is a number
  out.netdev = base::GetString(entry, "netdev");
  out.gid = GetInt(entry, "gid");
  return out;
}

Result<Environment> ReadStrings(const Json& json, std::string_view key) {
  Environment out;
  const Json& member = base::GetMember(json, key);
  if (member.is_null()) return out;
  if (!member.is_object())
    return Error{.code = Code::kInvalidInput, .what = "member \"" + std::string(key) + "\" is no object"};
  for (const auto& [name, value] : member.items()) {
    if (!value.is_string())
      return Error{.code = Code::kInvalidInput, .what = "value of " + base::Printable(name) + " is no text"};
    out.emplace(name, *value.get_ptr<const Json::string_t*>());
  }
  return out;
}

Result<std::set<std::string>> ReadNames(const Json& json, std::string_view key) {
  std::set<std::string> out;
  const Json& member = base::GetMember(json, key);
  if (member.is_null()) return out;
  if (!member.is_array())
    return Error{.code = Code::kInvalidInput, .what = "member \"" + std::string(key) + "\" is no array"};
  for (const Json& name : member) {
    if (!name.is_string())
      return Error{.code = Code::kInvalidInput, .what = "a name in \"" + std::string(key) + "\" is no text"};
    out.insert(*name.get_ptr<const Json::string_t*>());
  }
  return out;
}

}  // namespace

Result<std::string> ShortJson(Json plan) {
  std::string text = base::DumpJson(plan);
  if (text.size() <= kPlanLimit) return text;
  for (const char* member : {"why", "kept"}) {  // what the user has set stands in the environment as well
    plan.erase(member);
    text = base::DumpJson(plan);
    if (text.size() <= kPlanLimit) return text;
  }
  return Error{.code = Code::kInternal,
               .what = "plan too long for a variable",
               .where = std::string(kPlanVariable),
               .seen = std::to_string(text.size()) + " bytes",
               .expected = "at most " + std::to_string(kPlanLimit)};
}

Result<std::string> PlanToJson(const Plan& plan) { return ShortJson(ToJson(plan)); }

Result<PlanSummary> ParsePlan(std::string_view text) {
  const auto fail = [](std::string what, std::string seen = "") {
    return Error{.code = Code::kInvalidInput,
                 .what = std::move(what),
                 .where = std::string(kPlanVariable),
                 .seen = std::move(seen)};
  };
  if (text.size() > kPlanLimit) return fail("plan too long", std::to_string(text.size()) + " bytes");
  const auto json = base::ParseJson(text);
  if (!json.ok() || !json->is_object()) return fail("not a plan", std::string(text.substr(0, 40)));
  const auto version = base::GetInteger(*json, "v");
  if (version != kVersion) return fail("unknown version of the plan", version ? std::to_string(*version) : "");
  PlanSummary out;
  out.node = base::GetString(*json, "node").value_or("");
  auto set = ReadStrings(*json, "set");
  if (!set.ok()) return fail(set.error().what);
  auto kept = ReadStrings(*json, "kept");
  if (!kept.ok()) return fail(kept.error().what);
  auto forced = ReadNames(*json, "forced");
  if (!forced.ok()) return fail(forced.error().what);
  auto removed = ReadNames(*json, "removed");
  if (!removed.ok()) return fail(removed.error().what);
  out.set = std::move(set).value();
  out.forced = std::move(forced).value();
  out.removed = std::move(removed).value();
  out.kept = std::move(kept).value();
  const Json& ports = base::GetMember(*json, "ports");
  if (!ports.is_null() && !ports.is_array()) return fail("member \"ports\" is no array");
  for (const Json& entry : ports) {
    auto port = ReadPort(entry);
    if (!port.ok()) return fail(port.error().what);
    out.ports.push_back(std::move(port).value());
  }
  out.interface = base::GetString(*json, "if");
  out.address = base::GetString(*json, "addr");
  return out;
}

}  // namespace nccl_tune::env
