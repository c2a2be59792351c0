// SPDX-License-Identifier: Apache-2.0
#include "core/policy/site_policy.h"

#include <algorithm>
#include <utility>

#include "core/policy/glob.h"

namespace nccl_tune::policy {
namespace {

bool Lists(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool AnyMatches(const std::vector<Stated<std::string>>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return MatchesGlob(glob.value, name); });
}

template <typename T>
void Take(const std::optional<T>& from, std::optional<T>* to) {
  if (from) *to = from;
}

void TakeVariables(const Variables& from, Variables* to) {
  for (const auto& [name, value] : from) (*to)[name] = value;
}

void DropForbidden(const SitePolicy& policy, Variables* variables) {
  std::erase_if(*variables, [&](const auto& entry) { return !MaySet(policy, entry.first); });
}

}  // namespace

std::string Origin::ToString() const {
  return line == 0 ? key : "site policy, line " + std::to_string(line) + ": " + key;
}

std::string_view ToText(SiteMode mode) {
  switch (mode) {
    case SiteMode::kOff:
      return "off";
    case SiteMode::kAuto:
      return "auto";
    case SiteMode::kExplain:
      return "explain";
    case SiteMode::kDryRun:
      return "dry-run";
  }
  return "";
}

std::string_view ToText(GidIndexRule rule) { return rule == GidIndexRule::kPin ? "pin" : "auto"; }

bool PciPattern::Matches(const facts::PciAddress& address) const {
  return domain == address.domain && (!bus || *bus == address.bus) && (!device || *device == address.device) &&
         (!function || *function == address.function);
}

bool Holds(const SiteCondition& condition, const SiteContext& context) {
  if (!condition.partitions.empty() && !(context.partition && Lists(condition.partitions, *context.partition))) {
    return false;
  }
  if (!condition.features.empty()) {
    if (!context.features) return false;
    const auto listed = [&](const std::string& feature) { return Lists(condition.features, feature); };
    if (std::none_of(context.features->begin(), context.features->end(), listed)) return false;
  }
  return !condition.nodes || (context.node && condition.nodes->Contains(*context.node));
}

SitePolicy Merge(SitePolicy earlier, const SitePolicy& later) {
  Take(later.mode, &earlier.mode);
  Take(later.gid_index, &earlier.gid_index);
  Take(later.bootstrap, &earlier.bootstrap);
  Take(later.include_devices, &earlier.include_devices);
  Take(later.exclude_devices, &earlier.exclude_devices);
  Take(later.include_interfaces, &earlier.include_interfaces);
  Take(later.exclude_interfaces, &earlier.exclude_interfaces);
  Take(later.tc, &earlier.tc);
  Take(later.sl, &earlier.sl);
  Take(later.fifo_tc, &earlier.fifo_tc);
  Take(later.allow, &earlier.allow);
  Take(later.deny, &earlier.deny);
  TakeVariables(later.set, &earlier.set);
  for (const auto& [name, variables] : later.profiles) TakeVariables(variables, &earlier.profiles[name]);
  return earlier;
}

SitePolicy Resolve(const SiteFile& file, const SiteContext& context) {
  SitePolicy out = file.keys;
  for (const SiteOverride& block : file.when) {
    if (Holds(block.condition, context)) out = Merge(std::move(out), block.keys);
  }
  DropForbidden(out, &out.set);
  for (auto& [name, variables] : out.profiles) DropForbidden(out, &variables);
  return out;
}

bool MaySet(const SitePolicy& policy, std::string_view variable) {
  if (policy.deny && AnyMatches(*policy.deny, variable)) return false;
  return !policy.allow || policy.allow->empty() || AnyMatches(*policy.allow, variable);
}

base::Result<Variables> FindProfile(const SitePolicy& policy, std::string_view name) {
  const auto found = policy.profiles.find(name);
  if (found != policy.profiles.end()) return found->second;
  std::string names;
  for (const auto& [known, variables] : policy.profiles) names += (names.empty() ? "" : ", ") + known;
  return base::Error{.code = base::Code::kInvalidInput,
                     .what = "no such profile in the site policy",
                     .seen = std::string(name),
                     .expected = names.empty() ? "no profile: this site has none" : names};
}

}  // namespace nccl_tune::policy
