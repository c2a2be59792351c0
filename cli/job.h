// SPDX-License-Identifier: Apache-2.0
//
// What a job on a machine would get: the machine's facts, what is set already, the site's policy, and the plan.
#ifndef NCCL_TUNE_CLI_JOB_H_
#define NCCL_TUNE_CLI_JOB_H_

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "core/nccl/nccl_version.h"
#include "hw/tree.h"

namespace nccl_tune::cli {

// The variables that a job of the caller would have: on this machine the caller's own. Another machine's job would not
// have this shell's environment.
base::Environment UserEnvironment(const Machine& machine);

// The policy of this machine, below its root: what the plugin's line of plugstack.conf names, as a note then, else the
// usual one.
std::string FindInstalledPolicy(const hw::Tree& tree, const base::Environment& environment,
                                std::vector<facts::Note>* notes);

// The version that the library has, where one was found and tells it.
nccl::NcclVersion VersionOr(const facts::NcclLibraries& libraries, const nccl::NcclVersion& otherwise);

struct Job {
  facts::Node node;  // its notes hold what could not be read, of files and policy too
  env::Plan plan;
  bool off = false;  // the site's policy turns the tool off here; the plan is what it would be otherwise
  nccl::NcclVersion version;
  std::string library;  // path and how it was found; empty: none, and the version is assumed
};

// For env and explain. `with_library`: look for the NCCL that the job would load, which may read a large file.
base::Result<Job> PlanJob(const Options& options, bool with_library);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_JOB_H_
