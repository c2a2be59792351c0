// SPDX-License-Identifier: Apache-2.0
#include "launcher/meeting.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/env/plan.h"
#include "core/policy/decide.h"

namespace nccl_tune::launcher {
namespace {

constexpr const char* kInterface = "NCCL_SOCKET_IFNAME";

std::optional<env::PlanSummary> ReadPlan(const base::Environment& environment) {
  const auto text = base::Lookup(environment, env::kPlanVariable);
  if (!text) return std::nullopt;
  auto plan = env::ParsePlan(*text);
  return plan.ok() ? std::optional(std::move(plan).value()) : std::nullopt;
}

// Whether the environment's interface is the one that the plan set.
bool IsPlanned(const env::PlanSummary& plan, const base::Environment& environment) {
  const auto value = base::Lookup(environment, kInterface);
  return value && value == base::Lookup(plan.set, kInterface);
}

// At most a handful of names: the odd ones are few, or the message is about something else.
std::string Names(const std::set<std::string>& nodes) {
  constexpr std::size_t kShown = 4;
  std::string out;
  std::size_t shown = 0;
  for (const auto& node : nodes) {
    if (shown == kShown) break;
    out += (shown++ == 0 ? "" : ", ") + base::Printable(node);
  }
  return nodes.size() > kShown ? out + " and " + std::to_string(nodes.size() - kShown) + " more" : out;
}

}  // namespace

std::optional<Meeting> PlannedMeeting(const base::Environment& environment, const std::vector<OwnAddress>& own) {
  const auto plan = ReadPlan(environment);
  if (!plan || !plan->address || !IsPlanned(*plan, environment)) return std::nullopt;
  const auto found = std::find_if(own.begin(), own.end(), [&](const auto& a) { return a.text == *plan->address; });
  if (found == own.end()) return std::nullopt;
  const bool on_rail = std::any_of(plan->ports.begin(), plan->ports.end(),
                                   [&](const auto& port) { return port.netdev && port.netdev == plan->interface; });
  return Meeting{.network = found->network, .on_rail = on_rail};
}

std::optional<std::string> FindDisagreement(const std::vector<Entry>& entries) {
  std::map<std::string, std::set<std::string>> nodes_of;  // network to nodes
  bool relies_on_rail = false;
  for (const auto& entry : entries) {
    if (entry.network) nodes_of[*entry.network].insert(entry.node);
    relies_on_rail = relies_on_rail || entry.on_rail;
  }
  if (nodes_of.size() < 2 || !relies_on_rail) return std::nullopt;
  const auto most = std::max_element(nodes_of.begin(), nodes_of.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string odd;
  std::string one;
  for (const auto& [network, nodes] : nodes_of) {
    if (network == most->first) continue;
    odd += (odd.empty() ? "" : "; ") + Names(nodes) + " on " + base::Printable(network);
    one = *nodes.begin();
  }
  return "the nodes do not meet on one network: " + odd + ", the other " + std::to_string(most->second.size()) +
         " on " + base::Printable(most->first) +
         ". Leaving NCCL_SOCKET_IFNAME unset on all of them, as without --nccl-tune. See: srun -w " +
         base::Printable(one) + " nccl-tune explain";
}

void DropPlannedInterface(base::Environment* environment) {
  const auto plan = ReadPlan(*environment);
  if (!plan || !IsPlanned(*plan, *environment)) return;
  for (const auto& rule : policy::Rules()) {
    if (rule.variable != kInterface && !policy::Follows(rule, kInterface)) continue;
    const auto planned = base::Lookup(plan->set, rule.variable);
    if (planned && planned == base::Lookup(*environment, rule.variable)) environment->erase(std::string(rule.variable));
  }
}

}  // namespace nccl_tune::launcher
