// SPDX-License-Identifier: Apache-2.0
#include "core/env/plan.h"

#include <algorithm>
#include <utility>

#include "core/nccl/nccl_integer.h"

namespace nccl_tune::env {
namespace {

using base::Lookup;

// The user's environment without what an outer step of ours set.
Environment WithoutOurs(Environment user) {
  const auto text = Lookup(user, kPlanVariable);
  if (!text) return user;
  user.erase(std::string(kPlanVariable));
  const auto outer = ParsePlan(*text);
  if (!outer.ok()) return user;
  for (const auto& [name, value] : outer->set) {
    const auto now = user.find(name);
    if (now != user.end() && now->second == value) user.erase(now);
  }
  return user;
}

bool IsIbVariable(std::string_view name) { return name.starts_with("NCCL_IB_"); }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// What the user has set that makes `decision` moot; empty: nothing.
std::string RuledOutBy(const policy::Decision& decision, const Environment& user,
                       const std::optional<std::string>& our_hcas) {
  if (!IsIbVariable(decision.variable)) return "";
  const auto disable = Lookup(user, "NCCL_IB_DISABLE");
  if (disable && nccl::ReadNcclInteger(*disable).value.value_or(0) != 0)
    return "you have set NCCL_IB_DISABLE=" + *disable;
  const auto net = Lookup(user, "NCCL_NET");
  if (net && EqualsIgnoringCase(*net, "Socket")) return "you have set NCCL_NET=" + *net;
  const auto hcas = Lookup(user, "NCCL_IB_HCA");
  if (hcas && decision.variable != "NCCL_IB_HCA" && hcas != our_hcas) {
    return "you have chosen the ports yourself (NCCL_IB_HCA), and this was computed for others";
  }
  return "";
}

Setting Settle(policy::Decision decision, const Environment& user, const std::optional<std::string>& our_hcas) {
  Setting out;
  const auto value = Lookup(user, decision.variable);
  if (value) {
    out.action = Action::kKeep;
    out.user_value = *value;
  } else if (decision.value) {
    out.yielded_to = RuledOutBy(decision, user, our_hcas);
    out.action = out.yielded_to.empty() ? Action::kSet : Action::kYielded;
  }
  out.decision = std::move(decision);
  return out;
}

PlanPort ToPlanPort(const policy::PortRef& ref) {
  PlanPort out;
  out.hca = ref.hca->name;
  out.port = ref.port->number;
  out.link = ref.IsEthernet() ? "Ethernet" : "InfiniBand";
  if (ref.port->rate) out.gbps = ref.port->rate->value;
  out.netdev = ref.port->netdev;
  if (ref.gid != nullptr) out.gid = ref.gid->index;
  return out;
}

}  // namespace

Plan MakePlan(const std::string& node, const policy::Situation& situation, const Environment& user) {
  Plan plan;
  plan.node = node;
  const Environment theirs = WithoutOurs(user);
  auto decisions = policy::Decide(situation);
  std::optional<std::string> our_hcas;
  for (const auto& decision : decisions) {
    if (decision.variable == "NCCL_IB_HCA") our_hcas = decision.value;
  }
  for (auto& decision : decisions) plan.settings.push_back(Settle(std::move(decision), theirs, our_hcas));
  for (const auto& ref : situation.selection.ports) plan.ports.push_back(ToPlanPort(ref));
  if (situation.bootstrap.netdev != nullptr) {
    plan.interface = situation.bootstrap.netdev->name;
    const auto* address = situation.bootstrap.Address();
    if (address != nullptr) plan.address = address->prefix.address.ToString();
  }
  return plan;
}

Environment ValuesOf(const Plan& plan) {
  Environment out;
  for (const auto& setting : plan.settings) {
    if (setting.action == Action::kSet) out.emplace(setting.decision.variable, *setting.decision.value);
  }
  return out;
}

}  // namespace nccl_tune::env
