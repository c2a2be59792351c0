// SPDX-License-Identifier: Apache-2.0
#include "envplugin/decide.h"

#include <algorithm>
#include <utility>

#include "core/nccl/conf_file.h"
#include "core/policy/site_policy.h"
#include "core/policy/situation.h"
#include "envplugin/fit_version.h"
#include "envplugin/wish.h"
#include "hw/read_node.h"
#include "report/explain.h"
#include "site/read_job.h"
#include "site/read_policy.h"

namespace nccl_tune::envplugin {
namespace {

using base::Environment;

std::string Prefix(const Source& source) { return "nccl-tune: " + base::Printable(source.node) + ": "; }

Decision Nothing(const Source& source, const Wish& wish, std::string why) {
  Decision out;
  if (wish.explain) out.explanation = Prefix(source) + "nothing is set: " + why + "\n";
  out.nothing = std::move(why);
  return out;
}

std::string WarningOf(const std::vector<facts::Note>& notes) {
  const auto found = std::find_if(notes.begin(), notes.end(), [](const auto& note) { return note.warns; });
  return found == notes.end() ? "" : base::Printable(found->where + ": " + found->what);
}

policy::SitePolicy ReadSite(const Source& source, const Environment& environment, std::vector<facts::Note>* notes) {
  const auto file = site::ReadPolicy(*source.tree, notes);
  const site::Place place{.node = source.node,
                          .partition = site::PartitionOf(environment),
                          .slurm_conf = base::Lookup(environment, "SLURM_CONF").value_or("")};
  return site::ResolveAt(*source.tree, file, place, notes);
}

// A profile that there is not costs its values, and gives a line.
std::string AddProfile(const std::string& name, policy::SitePolicy* site) {
  if (name.empty()) return "";
  const auto profile = policy::FindProfile(*site, name);
  if (!profile.ok()) return base::Printable(profile.error().ToString());
  for (const auto& [variable, stated] : *profile) site->set[variable] = stated;
  return "";
}

// What is there counts as the user's, also what a plan of ours had set: only the rest is for us to say.
nccl::SourcedEnvironment Settings(Environment environment) {
  environment.erase(std::string(env::kPlanVariable));
  return nccl::MergeSettings(environment, {});
}

std::string Explained(const Source& source, const facts::Node& node, env::Plan plan, const nccl::NcclVersion& version,
                      const Decision& decision, bool sets) {
  auto all = report::Explain(node, std::move(plan), version);
  if (!decision.warning.empty() && all.warnings.empty()) all.warnings.push_back(decision.warning);
  const std::string prefix = Prefix(source);
  return (sets ? "" : prefix + "dry run, nothing is set\n") + report::SummaryText(all, prefix);
}

}  // namespace

bool PlanStands(const Environment& environment, std::string_view node) {
  const auto text = base::Lookup(environment, env::kPlanVariable);
  if (!text) return false;
  const auto plan = env::ParsePlan(*text);
  if (!plan.ok() || plan->node != node) return false;
  return std::all_of(plan->set.begin(), plan->set.end(), [&](const auto& entry) {
    return !entry.first.starts_with("NCCL_") || environment.contains(entry.first);
  });
}

base::Result<Decision> Decide(const Source& source, const Environment& environment, const nccl::NcclVersion& version) {
  const Wish wish = ReadWish(environment);
  if (!wish.refused.empty())
    return Nothing(source, wish, "NCCL_TUNE has \"" + base::Printable(wish.refused) + "\", which is no mode");
  if (!wish.Active()) return Nothing(source, wish, "NCCL_TUNE=off");
  if (PlanStands(environment, source.node)) return Nothing(source, wish, "what the Slurm plugin has set is there");
  std::vector<facts::Note> notes;
  auto site = ReadSite(source, environment, &notes);
  if (site.IsOff()) return Nothing(source, wish, "the site's policy turns the tool off on this node");
  // What the policy says of explaining is for the Slurm plugin: a library prints only what its own user asks for.
  const bool dry = !wish.stated && site.mode && site.mode->value == policy::SiteMode::kDryRun;
  if (dry) return Nothing(source, wish, "the site's policy has mode dry-run");
  Decision out;
  out.warning = WarningOf(notes);
  if (auto fault = AddProfile(wish.profile, &site); !fault.empty()) out.warning = std::move(fault);
  const auto ip = source.ip(&notes);
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*source.tree, ip, source.address(ip)));
  node.notes.insert(node.notes.begin(), notes.begin(), notes.end());
  const policy::Preferences preferences{.site = std::move(site), .mpi = false};
  auto plan = env::MakePlan(source.node, policy::Assess(node, preferences), Settings(environment));
  FitToVersion(version, &plan);
  if (wish.set) out.values = env::ValuesOf(plan);
  out.kept = plan.user;
  if (wish.explain) out.explanation = Explained(source, node, std::move(plan), version, out, wish.set);
  if (!wish.set) out.nothing = "NCCL_TUNE=dry-run";
  return out;
}

}  // namespace nccl_tune::envplugin
