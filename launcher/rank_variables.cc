// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_variables.h"

#include <algorithm>
#include <array>
#include <optional>

#include "launcher/rank_catalog.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using base::Lookup;

constexpr std::string_view kMarker = "NCCL_TUNE_LAUNCH";
constexpr std::array<std::string_view, 3> kTorchrunSets = {"RANK", "LOCAL_RANK", "WORLD_SIZE"};
constexpr std::array<std::string_view, 3> kMpirunSets = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                         "OMPI_COMM_WORLD_SIZE"};

std::string MarkerOf(const RankFacts& facts) { return facts.job + "." + facts.step; }

// From which launchers the environment was inherited.
struct Inherited {
  bool ours = false;
  bool torchruns = false;
  bool mpiruns = false;

  bool Any() const { return ours || torchruns || mpiruns; }
  bool Has(const RankVariable& variable) const {
    return ours || (torchruns && variable.other == OtherLauncher::kTorchrun) ||
           (mpiruns && variable.other == OtherLauncher::kMpirun);
  }
};

const RankVariable* Find(std::string_view name) {
  for (const auto& variable : RankVariables()) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

std::optional<std::string> ValueOf(const RankFacts& facts, std::string_view name) {
  const RankVariable* variable = Find(name);
  return variable == nullptr ? std::nullopt : variable->value(facts, {});
}

bool IsWhole(const std::array<std::string_view, 3>& names, const Environment& user) {
  return std::all_of(names.begin(), names.end(), [&user](auto name) { return user.contains(name); });
}

bool Fits(const std::array<std::string_view, 3>& names, const RankFacts& facts, const Environment& user) {
  return std::all_of(names.begin(), names.end(), [&](auto name) { return Lookup(user, name) == ValueOf(facts, name); });
}

Inherited FindInherited(const RankFacts& facts, const Environment& user) {
  if (const auto marker = Lookup(user, kMarker)) return {.ours = *marker != MarkerOf(facts)};
  const bool is_torchruns =
      IsWhole(kTorchrunSets, user) && (!Fits(kTorchrunSets, facts, user) || user.contains("TORCHELASTIC_RUN_ID"));
  return {.torchruns = is_torchruns, .mpiruns = IsWhole(kMpirunSets, user) && !Fits(kMpirunSets, facts, user)};
}

bool Stays(const Inherited& inherited, const RankVariable& variable, const Environment& user) {
  return user.contains(variable.name) && !inherited.Has(variable);
}

// The user's text where it stays, else what we found.
std::string Effective(const Inherited& inherited, std::string_view name, const Environment& user, std::string ours) {
  const RankVariable* variable = Find(name);
  return variable != nullptr && Stays(inherited, *variable, user) ? Lookup(user, name).value_or("") : ours;
}

}  // namespace

Additions DecideAdditions(const RankFacts& facts, const Environment& user) {
  const Inherited inherited = FindInherited(facts, user);
  const Master master{.address = Effective(inherited, "MASTER_ADDR", user, facts.master_address),
                      .port = Effective(inherited, "MASTER_PORT", user, std::to_string(facts.master_port))};
  Additions additions{.set = {}, .unset = {}, .kept = {}, .inherited = inherited.Any()};
  for (const auto& variable : RankVariables()) {
    const std::string name(variable.name);
    const auto value = variable.value(facts, master);
    if (Stays(inherited, variable, user)) {
      additions.kept.push_back(name + "=" + user.at(name));
    } else if (value) {
      additions.set.emplace(name, *value);
    } else if (user.contains(name)) {
      additions.unset.push_back(name);
    }
  }
  additions.set.emplace(kMarker, MarkerOf(facts));
  return additions;
}

void Apply(const Additions& additions, Environment* environment) {
  for (const auto& name : additions.unset) environment->erase(name);
  for (const auto& [name, value] : additions.set) environment->insert_or_assign(name, value);
}

bool StaysTheUsers(const RankFacts& facts, const Environment& user, std::string_view name) {
  const RankVariable* variable = Find(name);
  return variable != nullptr && Stays(FindInherited(facts, user), *variable, user);
}

}  // namespace nccl_tune::launcher
