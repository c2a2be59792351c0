// SPDX-License-Identifier: Apache-2.0
#include "envplugin/fit_version.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/policy/decide.h"

namespace nccl_tune::envplugin {
namespace {

// The variable among `left_out` that `variable` was computed for; empty: none.
std::string FollowsOne(const std::string& variable, const std::set<std::string>& left_out) {
  for (const auto& rule : policy::Rules()) {
    if (rule.variable != variable) continue;
    for (const auto& name : policy::SplitNames(rule.follows)) {
      if (left_out.contains(name)) return name;
    }
  }
  return "";
}

}  // namespace

void FitToVersion(const nccl::NcclVersion& version, env::Plan* plan) {
  std::erase_if(plan->settings, [](const auto& setting) { return !setting.decision.variable.starts_with("NCCL_"); });
  std::set<std::string> left_out;
  for (auto& setting : plan->settings) {
    if (setting.action != env::Action::kSet) continue;
    const std::string& name = setting.decision.variable;
    if (version < setting.since) {
      setting.yielded_to = "NCCL " + version.ToString() + " does not read it, " + setting.since.ToString() + " does";
    } else if (const auto followed = FollowsOne(name, left_out); !followed.empty()) {
      setting.yielded_to = followed + " is left unset, and this goes with it";
    } else {
      continue;
    }
    setting.action = env::Action::kYielded;
    setting.origin.clear();
    left_out.insert(name);
  }
}

}  // namespace nccl_tune::envplugin
