// SPDX-License-Identifier: Apache-2.0
#include "bench/shown_environment.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace nccl_tune::bench {
namespace {

constexpr std::array<std::string_view, 4> kPrefixes = {"NCCL_", "UCX_", "OMPI_", "PMIX_MCA_"};

// Of Slurm's what says where and in what shape the step runs; not the user's name, accounts, paths or comments.
constexpr std::array<std::string_view, 36> kNames = {"CUDA_VISIBLE_DEVICES",
                                                     "SLURM_CLUSTER_NAME",
                                                     "SLURM_CPUS_ON_NODE",
                                                     "SLURM_CPUS_PER_TASK",
                                                     "SLURM_CPU_BIND",
                                                     "SLURM_DISTRIBUTION",
                                                     "SLURM_GPUS",
                                                     "SLURM_GPUS_ON_NODE",
                                                     "SLURM_GPUS_PER_NODE",
                                                     "SLURM_GPUS_PER_TASK",
                                                     "SLURM_GPU_BIND",
                                                     "SLURM_JOBID",
                                                     "SLURM_JOB_GPUS",
                                                     "SLURM_JOB_ID",
                                                     "SLURM_JOB_NODELIST",
                                                     "SLURM_JOB_NUM_NODES",
                                                     "SLURM_JOB_PARTITION",
                                                     "SLURM_LOCALID",
                                                     "SLURM_MPI_TYPE",
                                                     "SLURM_NNODES",
                                                     "SLURM_NODEID",
                                                     "SLURM_NODELIST",
                                                     "SLURM_NPROCS",
                                                     "SLURM_NTASKS",
                                                     "SLURM_NTASKS_PER_NODE",
                                                     "SLURM_PROCID",
                                                     "SLURM_STEPID",
                                                     "SLURM_STEP_GPUS",
                                                     "SLURM_STEP_ID",
                                                     "SLURM_STEP_NODELIST",
                                                     "SLURM_STEP_NUM_NODES",
                                                     "SLURM_STEP_NUM_TASKS",
                                                     "SLURM_STEP_TASKS_PER_NODE",
                                                     "SLURM_TASKS_PER_NODE",
                                                     "SLURM_TOPOLOGY_ADDR",
                                                     "SLURM_TOPOLOGY_ADDR_PATTERN"};

constexpr std::array<std::string_view, 7> kSecret = {"token", "secret", "passw",       "credential",
                                                     "auth",  "_uri",   "precondition"};

// "key" other than in "_pkey".
bool NamesKey(std::string_view name) {
  for (auto at = name.find("key"); at != std::string_view::npos; at = name.find("key", at + 1)) {
    if (!name.substr(0, at).ends_with("_p")) return true;
  }
  return false;
}

bool SoundsSecret(std::string_view name) {
  const std::string lower = base::LowerAscii(name);
  return NamesKey(lower) || std::any_of(kSecret.begin(), kSecret.end(),
                                        [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

bool IsShown(std::string_view name) {
  const bool listed = std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                      std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                  [&](std::string_view prefix) { return name.starts_with(prefix); });
  return listed && !SoundsSecret(name);
}

std::vector<std::string> ShownEnvironment(const base::Environment& environment) {
  std::vector<std::string> shown;
  for (const auto& [name, value] : environment) {
    if (IsShown(name)) shown.push_back(name + "=" + value);
  }
  return shown;
}

}  // namespace nccl_tune::bench
