// SPDX-License-Identifier: Apache-2.0
#include "cli/job.h"

#include <unistd.h>

#include <utility>

#include "cli/check_policy.h"
#include "core/policy/situation.h"
#include "hw/find_nccl.h"
#include "hw/read_node.h"
#include "hw/user_file.h"
#include "site/installation.h"
#include "site/parse_policy.h"
#include "site/read_job.h"
#include "site/read_policy.h"

namespace nccl_tune::cli {
namespace {

// The policy that --policy names must be right; the machine's own is ignored with a note where it is not.
base::Result<policy::SiteFile> OpenPolicy(const Options& options, const Machine& machine,
                                          std::vector<facts::Note>* notes) {
  if (!options.site_policy) {
    std::string path(site::kPolicyPath);
    if (machine.live) path = FindInstalledPolicy(*machine.tree, UserEnvironment(machine), notes);
    return site::ReadPolicy(*machine.tree, notes, path);
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(text, hw::ReadUserFile(*options.site_policy, kPolicyLimit));
  return site::ParsePolicy(text, *options.site_policy);
}

}  // namespace

std::string FindInstalledPolicy(const hw::Tree& tree, const base::Environment& environment,
                                std::vector<facts::Note>* notes) {
  const auto installation = site::ReadInstallation(tree, base::Lookup(environment, "SLURM_CONF").value_or(""));
  if (installation.names_policy) {
    const auto text = tree.ReadTrusted(installation.policy, kPolicyLimit);
    const bool is_absent = !text.ok() && text.error().code == base::Code::kNotFound;
    notes->push_back({.where = "/" + installation.policy,
                      .what = "the site's policy, named in " + site::WhereIs(*installation.line) +
                              (is_absent ? "; it is not there, so detection decides" : ""),
                      .warns = true});
  }
  return installation.policy;
}

base::Environment UserEnvironment(const Machine& machine) {
  return machine.live ? base::CopyEnvironment(environ) : base::Environment();
}

nccl::NcclVersion VersionOr(const facts::NcclLibraries& libraries, const nccl::NcclVersion& otherwise) {
  const std::string text = libraries.nccl ? libraries.nccl->version.value_or("") : "";
  return nccl::ParseNcclVersion(text).value_or(otherwise);
}

base::Result<Job> PlanJob(const Options& options, bool with_library) {
  NCCL_TUNE_ASSIGN_OR_RETURN(machine, OpenMachine(options));
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*machine.tree, machine.ip, machine.node_addr));
  node.notes.insert(node.notes.begin(), machine.notes.begin(), machine.notes.end());
  Job out;
  const auto environment = UserEnvironment(machine);
  out.version = nccl::kAssumedVersion;
  if (with_library) {
    const auto libraries = hw::FindNccl(*machine.tree, environment, &node.notes);
    out.version = VersionOr(libraries, nccl::kAssumedVersion);
    if (libraries.nccl && libraries.nccl->version) out.library = libraries.nccl->path;
  }
  const auto user = site::ReadSettings(*machine.tree, environment, out.version, &node.notes);
  NCCL_TUNE_ASSIGN_OR_RETURN(file, OpenPolicy(options, machine, &node.notes));
  const site::Place place{.node = machine.name,
                          .partition = site::PartitionOf(environment),
                          .slurm_conf = base::Lookup(environment, "SLURM_CONF").value_or("")};
  policy::Preferences preferences{.site = site::ResolveAt(*machine.tree, file, place, &node.notes), .mpi = options.mpi};
  out.off = preferences.site.IsOff();
  out.plan = env::MakePlan(machine.name, policy::Assess(node, preferences), user);
  out.node = std::move(node);
  return out;
}

}  // namespace nccl_tune::cli
