// SPDX-License-Identifier: Apache-2.0
//
// What a task knows by itself: gathered before the first fence.
#ifndef NCCL_TUNE_LAUNCHER_BRING_H_
#define NCCL_TUNE_LAUNCHER_BRING_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/facts/node.h"
#include "hw/tree.h"
#include "launcher/exchange.h"
#include "launcher/master_port.h"
#include "launcher/options.h"
#include "launcher/placement.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

// The step of this task, with a PMIx server of its own.
base::Result<pmix::Step> RequireStep(const base::Environment& environment);

// Tasks of each node; and of this node the ranks, ascending. From SLURM_STEP_TASKS_PER_NODE and SLURM_GTIDS.
base::Result<std::vector<std::uint32_t>> TasksOfNodes(const base::Environment& environment, const pmix::Step& step);
base::Result<std::vector<std::uint32_t>> RanksOfNode(const base::Environment& environment, const pmix::Step& step);

// Where other nodes reach this one, as a number: that of the bootstrap interface; without one that from which packets
// to srun leave; else the node's first address, else loopback.
std::string LinkAddress(const base::Environment& environment, const std::string& node);

struct Own {
  Bringing bringing{};
  std::optional<MasterPort> port{};     // of rank 0
  std::vector<Placement> placements{};  // of the ranks that this task starts; empty: as they are
  std::size_t gpus = 0;                 // that it sees, where that was looked at
  bool own_gpus = false;                // Slurm gave them to this task alone
};

// Fails on what makes the run impossible on this node: --bind gpu without a GPU, no free port, more than one task a
// node with --procs-per-node.
base::Result<Own> Bring(const Options& options, const pmix::Step& step, const hw::Tree& root,
                        const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_BRING_H_
