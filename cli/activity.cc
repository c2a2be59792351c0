// SPDX-License-Identifier: Apache-2.0
#include "cli/activity.h"

#include "report/policy_text.h"

namespace nccl_tune::cli {
namespace {

using policy::SiteMode;

// Jobs that say nothing are looked at, so that the policy's mode is their default.
bool AsksPolicy(const site::Arguments& arguments) {
  return arguments.default_by_policy || arguments.site_default.Active();
}

std::string LineOf(const policy::Origin& origin) { return "line " + std::to_string(origin.line); }

// What a mode of the policy means for the jobs that it is about.
std::string Meaning(SiteMode mode, bool asks_policy) {
  if (mode == SiteMode::kOff) return "off";
  return asks_policy ? "every job (" + std::string(policy::ToText(mode)) + ")" : "jobs that ask";
}

std::string Everywhere(const site::Installation& installation, const policy::SitePolicy& here) {
  if (here.IsOff()) return "turned off here by the site's policy, " + LineOf(here.mode->origin);
  std::string mode;
  if (AsksPolicy(installation.arguments) && here.mode)
    mode = policy::ToText(here.mode->value);
  else if (installation.arguments.site_default.Active())
    mode = installation.default_text == "policy" ? "auto" : installation.default_text;
  if (mode.empty()) return "active in jobs that ask: srun --nccl-tune";
  return "active in every job (" + mode + ") that does not say --nccl-tune=off";
}

}  // namespace

Activity DescribeActivity(const site::Installation& installation, const policy::SiteFile& file,
                          const policy::SitePolicy& here) {
  Activity out{.text = Everywhere(installation, here), .notes = {}};
  const bool asks_policy = AsksPolicy(installation.arguments);
  const auto is_idle = [&](const policy::SitePolicy& keys) {
    const bool lifts_off = file.keys.IsOff() && &keys != &file.keys;
    return keys.mode && !keys.IsOff() && !asks_policy && !lifts_off;
  };
  bool has_idle_mode = is_idle(file.keys);
  std::string blocks;
  for (const auto& block : file.when) {
    if (!block.keys.mode) continue;
    has_idle_mode = has_idle_mode || is_idle(block.keys);
    if (is_idle(block.keys)) continue;
    blocks += "; " + report::ConditionText(block.condition) + ": " + Meaning(block.keys.mode->value, asks_policy) +
              " (" + LineOf(block.keys.mode->origin) + ")";
  }
  if (!blocks.empty()) out.text += "; by blocks of the policy otherwise" + blocks;
  if (has_idle_mode && installation.line) {
    out.notes.push_back("mode in the policy has no effect on jobs that say nothing: the default is " +
                        installation.default_text + ". Write default=policy behind the path in " +
                        site::WhereIs(*installation.line));
  }
  return out;
}

}  // namespace nccl_tune::cli
