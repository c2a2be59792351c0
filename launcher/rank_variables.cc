// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_variables.h"

#include <array>
#include <string_view>

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using base::Lookup;

constexpr std::string_view kMarker = "NCCL_TUNE_LAUNCH";

std::string MarkerOf(const pmix::Step& step) { return step.job + "." + step.step; }

Environment AllVariables(const RankFacts& facts) {
  const pmix::Step& step = facts.step;
  return {{"RANK", std::to_string(step.rank)},
          {"WORLD_SIZE", std::to_string(facts.size)},
          {"LOCAL_RANK", std::to_string(step.local_rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(step.local_size)},
          {"NODE_RANK", std::to_string(step.node_id)},
          {"GROUP_RANK", std::to_string(step.node_id)},
          {"MASTER_ADDR", facts.master_address},
          {"MASTER_PORT", std::to_string(facts.master_port)}};
}

bool IsInherited(const RankFacts& facts, const Environment& wanted, const Environment& user) {
  const auto marker = Lookup(user, kMarker);
  if (marker) return *marker != MarkerOf(facts.step);
  constexpr std::array<std::string_view, 3> kLaunchersSet = {"RANK", "LOCAL_RANK", "WORLD_SIZE"};
  bool fits = true;
  for (const std::string_view name : kLaunchersSet) {
    const auto value = Lookup(user, name);
    if (!value) return false;
    fits = fits && value == Lookup(wanted, name);
  }
  return !fits;
}

}  // namespace

Additions DecideAdditions(const RankFacts& facts, const Environment& user) {
  const Environment wanted = AllVariables(facts);
  Additions additions{.set = {}, .kept = {}, .inherited = IsInherited(facts, wanted, user)};
  for (const auto& [name, value] : wanted) {
    const auto users = Lookup(user, name);
    if (users && !additions.inherited) {
      additions.kept.push_back(name + "=" + *users);
    } else {
      additions.set.emplace(name, value);
    }
  }
  additions.set.emplace(kMarker, MarkerOf(facts.step));
  return additions;
}

}  // namespace nccl_tune::launcher
