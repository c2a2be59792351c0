// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a task sees, as its environment tells. Pure: asks no driver.
//
// CUDA's rules as CUDA 13 follows them (driver 580.159 on an H200, cuInit and cuDeviceGetCount): an index is read as
// strtol reads it, so blanks and a plus before it and anything behind it count for nothing; a UUID begins with "GPU-"
// or "MIG-", stands without blanks before it, may be shortened and is compared without case; the first entry that is
// neither, negative or no device of the node ends the list, as does a change between indices and UUIDs; a device that
// is named twice makes cuInit fail. Not tried: MIG devices, and ROCm's lists, read by the same rules.
//
// Threads: plain values. Ownership: own their texts.
#ifndef NCCL_TUNE_LAUNCHER_VISIBLE_GPUS_H_
#define NCCL_TUNE_LAUNCHER_VISIBLE_GPUS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/facts/node.h"

namespace nccl_tune::launcher {

struct VisibleGpus {
  std::vector<std::string> ids{};  // each as `variable` would name it: "2", "GPU-de94b31a-..."
  std::string variable{};          // what narrows them to one: "CUDA_VISIBLE_DEVICES"
  std::string source{};            // where the list is from, for a message: a variable, or "the devices of this node"
  // Set variables whose indices count in the list of `variable`: "0" is right in them once that names one GPU.
  std::vector<std::string> counting{};
};

// The entries that are in force. `devices`: how many the node has, where that is known. An Error when one is named
// twice.
base::Result<std::vector<std::string>> ParseVisibleList(std::string_view text, std::optional<std::size_t> devices);

// The first that is set of CUDA_VISIBLE_DEVICES (for AMD: ROCR_VISIBLE_DEVICES, through which HIP_VISIBLE_DEVICES or
// else CUDA_VISIBLE_DEVICES choose), SLURM_STEP_GPUS and SLURM_GPUS_ON_NODE; else all GPUs of `node`. The vendor is
// that of the node's first GPU; without one the first variable that is set tells it. No GPU at all is no Error.
base::Result<VisibleGpus> FindVisibleGpus(const base::Environment& environment, const facts::Node& node);

// Ranks a node has with `--procs-per-node gpu`: one for each GPU. An Error when there is none.
base::Result<int> RanksForGpus(const VisibleGpus& gpus);

// Whether Slurm gave this task GPUs of its own (--gpus-per-task, --gpu-bind): it sees fewer than the step has here.
bool SeesOwnGpusOnly(const base::Environment& environment, const VisibleGpus& gpus);

// Which of the `devices` GPUs of the node, in order of PCI address, the index `id` means. In a cgroup that hides
// devices indices count from 0 among those granted, which SLURM_STEP_GPUS names by their number on the node. Nothing
// for a UUID and for what is out of range.
std::optional<std::size_t> NumberOnNode(std::string_view id, const VisibleGpus& gpus,
                                        const base::Environment& environment, std::size_t devices);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_VISIBLE_GPUS_H_
