// SPDX-License-Identifier: Apache-2.0
#include "spank/node_plan.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/situation.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/local_address.h"
#include "hw/read_node.h"
#include "report/explain.h"
#include "site/read_job.h"
#include "site/read_policy.h"
#include "spank/child.h"

namespace nccl_tune::spank {
namespace {

// The policy's mode. Off stands against jobs that ask; the others are for jobs that say nothing.
Mode ModeOf(const Wish& wish, const policy::SitePolicy& site) {
  if (site.IsOff()) return Mode{};
  if (wish.mode) return *wish.mode;
  if (!site.mode) return wish.fallback;
  const bool explain = site.mode->value != policy::SiteMode::kAuto;
  return {.set = site.mode->value != policy::SiteMode::kDryRun, .explain = explain, .mpi = false, .profile = {}};
}

std::string WarningOf(const std::vector<facts::Note>& notes) {
  const auto found = std::find_if(notes.begin(), notes.end(), [](const auto& note) { return note.warns; });
  return found == notes.end() ? "" : base::Printable(found->where + ": " + found->what);
}

policy::SiteFile ReadPolicyAt(const hw::Tree& tree, std::string_view path, std::vector<facts::Note>* notes) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return site::ReadPolicy(tree, notes, path);
}

base::Result<NodePlan> Detect(const env::Environment& user, const Wish& wish) {
  NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open("/"));
  NodePlan out;
  std::vector<facts::Note> notes;
  const std::string name = hw::OwnHostName();
  const auto file = ReadPolicyAt(*tree, wish.policy, &notes);
  const site::Place place{.node = name, .partition = site::PartitionOf(user), .slurm_conf = wish.slurm_conf};
  policy::Preferences preferences{.site = site::ResolveAt(*tree, file, place, &notes), .mpi = false};
  out.warning = WarningOf(notes);
  out.mode = ModeOf(wish, preferences.site);
  preferences.mpi = out.mode.mpi;
  if (!out.mode.Active()) return out;
  if (!out.mode.profile.empty()) {
    const auto profile = policy::FindProfile(preferences.site, out.mode.profile);
    if (profile.ok())
      for (const auto& [variable, stated] : *profile) preferences.site.set[variable] = stated;
    else
      out.warning = base::Printable(profile.error().ToString());
  }
  const auto settings = site::ReadSettings(*tree, user, nccl::kAssumedVersion, &notes);
  const auto ip = hw::ReadLiveIp(*tree, &notes);
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*tree, ip, hw::FindNodeAddress(name, ip.interfaces)));
  node.notes.insert(node.notes.begin(), notes.begin(), notes.end());
  auto plan = env::MakePlan(name, policy::Assess(node, preferences), settings);
  NCCL_TUNE_ASSIGN_OR_RETURN(json, env::PlanToJson(plan));
  out.json = std::move(json);
  if (out.mode.explain) {
    auto all = report::Explain(node, std::move(plan), nccl::kAssumedVersion);
    if (!out.warning.empty() && all.warnings.empty()) all.warnings.push_back(out.warning);
    out.explanation = report::SummaryText(all, "nccl-tune: " + base::Printable(name) + ": ");
  }
  return out;
}

// What the child writes: a mark, then what holds, the plan and the warning on a line each and the explanation; or the
// error.
constexpr char kGood = '+';
constexpr char kBad = '-';

std::string DetectAsText(const env::Environment& user, const Wish& wish) {
  const auto got = Detect(user, wish);
  if (!got.ok()) return kBad + got.error().ToString();
  const auto flag = [](bool on) { return on ? '1' : '0'; };
  const std::string flags{flag(got->mode.set), flag(got->mode.explain), flag(got->mode.mpi)};
  return kGood + flags + "\n" + got->json + "\n" + got->warning + "\n" + got->explanation;
}

std::string_view TakeLine(std::string_view* text) {
  const auto end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

}  // namespace

base::Result<NodePlan> MakeNodePlan(const env::Environment& user, const Wish& wish,
                                    std::chrono::milliseconds deadline) {
  NCCL_TUNE_ASSIGN_OR_RETURN(text, RunInChild([&] { return DetectAsText(user, wish); }, deadline));
  std::string_view rest = text;
  const std::string_view flags = TakeLine(&rest);
  if (flags.size() != 4 || flags.front() != kGood) {
    return base::Error{.code = base::Code::kUnreadable, .what = text.empty() ? "empty answer" : text.substr(1)};
  }
  NodePlan out;
  out.mode = {.set = flags[1] == '1', .explain = flags[2] == '1', .mpi = flags[3] == '1', .profile = {}};
  out.json = TakeLine(&rest);
  out.warning = TakeLine(&rest);
  out.explanation = rest;
  if (!out.mode.Active()) return out;
  NCCL_TUNE_ASSIGN_OR_RETURN(summary, env::ParsePlan(out.json));
  out.summary = std::move(summary);
  return out;
}

std::string UsualPolicy() { return "/" + std::string(site::kPolicyPath); }

}  // namespace nccl_tune::spank
