// SPDX-License-Identifier: Apache-2.0
#include "spank/detect.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/situation.h"
#include "hw/directory_tree.h"
#include "hw/find_nccl.h"
#include "hw/ip_facts.h"
#include "hw/local_address.h"
#include "hw/read_node.h"
#include "report/explain.h"
#include "site/read_job.h"
#include "site/read_policy.h"

namespace nccl_tune::spank {
namespace {

using policy::Preferences;

constexpr const char* kIndent = "nccl-tune:   ";  // below the line that names the nodes
constexpr const char* kDryRun = "nccl-tune:   dry run, nothing is set\n";

// The policy's mode. Off stands against jobs that ask; the others are for jobs that say nothing.
Mode ModeOf(const Wish& wish, const policy::SitePolicy& site) {
  if (site.IsOff()) return Mode{};
  if (wish.mode) return *wish.mode;
  if (!site.mode) return wish.fallback;
  Mode out;
  out.set = site.mode->value != policy::SiteMode::kDryRun;
  out.explain = site.mode->value != policy::SiteMode::kAuto;
  return out;
}

// What a job that asked for more than a value is told where the site's policy has the last word; empty: nothing.
std::string OffNotice(const Wish& wish, const policy::SitePolicy& site) {
  if (!site.IsOff() || !wish.mode || !wish.mode->Active()) return "";
  const Mode& mode = *wish.mode;
  Mode plain;
  plain.set = true;
  plain.mpi = mode.mpi;
  if (mode == plain) return "";
  return base::Printable("the site's policy turns nccl-tune off here, " + wish.policy + ":" +
                         std::to_string(site.mode->origin.line) + "; nothing is set");
}

// What unset= cannot take away: it stands in a file, which NCCL reads itself.
std::vector<facts::Note> LeftInFiles(const Mode& mode, const nccl::SourcedEnvironment& settings) {
  std::vector<facts::Note> out;
  for (const auto& name : mode.unset) {
    const auto found = settings.find(name);
    if (found == settings.end() || found->second.FromEnvironment()) continue;
    const std::string origin = found->second.Origin();
    out.push_back({.where = "--nccl-tune=unset=" + name,
                   .what = origin + " sets it, and it stays. Take it out of there",
                   .warns = true});
  }
  return out;
}

// What a note that warns says, a line each.
std::vector<std::string> WarningsOf(const std::vector<facts::Note>& notes) {
  std::vector<std::string> out;
  for (const auto& note : notes) {
    if (note.warns) out.push_back(base::Printable(note.where + ": " + note.what));
  }
  return out;
}

// The job's wishes into `out`, as far as the site's policy lets them through; the rest are notes.
// `ignored`: why the policy is; empty: it is not.
std::vector<facts::Note> TakeWishes(const Mode& mode, const std::string& ignored, Preferences* out) {
  std::vector<facts::Note> refused;
  const auto refuse = [&](const std::string& item, const std::string& why) {
    refused.push_back({.where = "--nccl-tune=" + item, .what = why, .warns = true});
  };
  if (!mode.profile.empty()) {
    const auto profile = policy::FindProfile(out->site, mode.profile);
    if (profile.ok())
      for (const auto& [variable, stated] : *profile) out->site.set[variable] = stated;
    else
      refuse("profile=" + mode.profile, ignored.empty() ? profile.error().ToString() : ignored);
  }
  const std::string denied = "the site's policy does not let it be changed";
  for (const auto& [name, value] : mode.values) {
    if (policy::MaySet(out->site, name))
      out->asked[name] = value;
    else
      refuse("set=" + name, denied);
  }
  for (const auto& name : mode.unset) {
    if (policy::MaySet(out->site, name))
      out->left_out.insert(name);
    else
      refuse("unset=" + name, denied);
  }
  return refused;
}

std::string NetPluginOf(const hw::Tree& tree, const env::Environment& user, std::vector<facts::Note>* notes) {
  const auto plugin = hw::FindNetPlugin(tree, user, notes);
  if (plugin.is_disabled) return "";
  return plugin.library ? plugin.library->path : plugin.asked;
}

// What two nodes have in common that share a table: all that their tasks see, all that is wrong and what ours would be;
// nothing that is only evidence.
std::string KeyOf(const report::Explanation& all, const std::vector<std::string>& warnings) {
  const env::Plan& plan = all.plan;
  base::Json key;
  key["warnings"] = warnings;
  for (const auto& c : all.contradictions) key["wrong"].push_back({c.variable, c.what, c.hint});
  key["set"] = env::ValuesOf(plan);
  key["removed"] = plan.removed;
  for (const auto& setting : plan.settings) {
    if (setting.action == env::Action::kKeep)
      key["kept"][setting.decision.variable] = {setting.user_value, setting.decision.value.value_or("")};
    if (setting.action == env::Action::kYielded) key["yielded"].push_back(setting.decision.variable);
  }
  return base::DumpJson(key);
}

// What will hurt, as a line each.
std::vector<std::string> HurtsOf(const report::Explanation& all) {
  std::vector<std::string> out;
  for (const auto& c : all.contradictions) {
    if (c.is_harmless) continue;
    const std::string origin = report::FileOf(all.plan, c.variable);
    const std::string line = c.variable + "=" + base::Shortened(c.value) + (origin.empty() ? "" : " (" + origin + ")") +
                             ": " + c.what + (c.hint.empty() ? "" : ". " + c.hint);
    out.push_back(base::Printable(line));
  }
  return out;
}

bool SaysAnything(const env::Plan& plan) {
  return std::any_of(plan.settings.begin(), plan.settings.end(), [](const auto& setting) {
    return setting.action == env::Action::kSet || setting.action == env::Action::kKeep;
  });
}

}  // namespace

base::Result<NodePlan> DetectNodePlan(const env::Environment& user, const Wish& wish) {
  NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open("/"));
  NodePlan out;
  out.node = hw::OwnHostName();
  std::vector<facts::Note> notes;
  const auto file = site::ReadPolicy(*tree, &notes, hw::BelowRoot(wish.policy));
  const site::Place place{.node = out.node, .partition = site::PartitionOf(user), .slurm_conf = wish.slurm_conf};
  Preferences preferences{.site = site::ResolveAt(*tree, file, place, &notes)};
  out.mode = ModeOf(wish, preferences.site);
  out.site_warnings = WarningsOf(notes);
  if (auto notice = OffNotice(wish, preferences.site); !notice.empty()) out.warnings.push_back(std::move(notice));
  if (!out.mode.Active()) return out;
  auto refused = TakeWishes(out.mode, out.site_warnings.empty() ? "" : out.site_warnings.front(), &preferences);
  preferences.mpi = out.mode.mpi;
  preferences.strict = out.mode.strict;
  if (preferences.strict) preferences.net_plugin = NetPluginOf(*tree, user, &notes);
  const auto settings = site::ReadSettings(*tree, user, nccl::kAssumedVersion, &notes);
  for (auto& note : LeftInFiles(out.mode, settings)) refused.push_back(std::move(note));
  out.warnings = WarningsOf(refused);
  notes.insert(notes.end(), refused.begin(), refused.end());
  const auto ip = hw::ReadLiveIp(*tree, &notes);
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*tree, ip, hw::FindNodeAddress(out.node, ip.interfaces)));
  node.notes.insert(node.notes.begin(), notes.begin(), notes.end());
  auto plan = env::MakePlan(out.node, policy::Assess(node, preferences), settings);
  NCCL_TUNE_ASSIGN_OR_RETURN(json, env::PlanToJson(plan));
  out.json = std::move(json);
  const bool nothing = !SaysAnything(plan);
  const auto all = report::Explain(node, std::move(plan), nccl::kAssumedVersion);
  for (auto& line : HurtsOf(all)) out.warnings.push_back(std::move(line));
  out.key = KeyOf(all, out.warnings);
  if (out.mode.explain) out.explanation = (out.mode.set ? "" : kDryRun) + report::SummaryText(all, kIndent);
  if (!out.mode.strict) return out;
  for (const auto& line : out.warnings) out.fault += (out.fault.empty() ? "" : "\n") + line;
  if (out.fault.empty() && nothing) out.fault = "nothing could be decided on this node: see nccl-tune explain there";
  return out;
}

}  // namespace nccl_tune::spank
