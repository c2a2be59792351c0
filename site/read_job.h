// SPDX-License-Identifier: Apache-2.0
//
// What is set and wished for a job on a machine: the environment with what NCCL's and Open MPI's own files add, and the
// site's policy for this step. Reads below a tree's root.
#ifndef NCCL_TUNE_SITE_READ_JOB_H_
#define NCCL_TUNE_SITE_READ_JOB_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "core/facts/node.h"
#include "core/nccl/conf_file.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/site_policy.h"
#include "hw/tree.h"

namespace nccl_tune::site {

// NCCL's own files for a job with `environment`, as NCCL of `version` reads them. Those that cannot be read are notes.
std::vector<nccl::ConfFile> ReadConfFiles(const hw::Tree& tree, const base::Environment& environment,
                                          const nccl::NcclVersion& version, std::vector<facts::Note>* notes);

// `environment`: of the job. Files that cannot be read, and lines that NCCL takes otherwise than they look, are notes.
nccl::SourcedEnvironment ReadSettings(const hw::Tree& tree, const base::Environment& environment,
                                      const nccl::NcclVersion& version, std::vector<facts::Note>* notes);

// A step on a node, as a policy's conditions see it.
struct Place {
  // The host's own name, of which the part before the first point counts: the environment may name the node of an outer
  // step.
  std::string node;
  std::optional<std::string> partition;
  // Path of slurm.conf, which is read only where a condition asks for features; empty: where it usually is.
  std::string slurm_conf;
};

// The partition of the job whose environment this is.
std::optional<std::string> PartitionOf(const base::Environment& environment);

// What of a site's policy holds there. Blocks left out because a fact is not known are notes.
policy::SitePolicy ResolveAt(const hw::Tree& tree, const policy::SiteFile& file, const Place& place,
                             std::vector<facts::Note>* notes);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_READ_JOB_H_
