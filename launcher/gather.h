// SPDX-License-Identifier: Apache-2.0
//
// The preflight's TCP part: a node's first task reaches its parent and the next node of the ring over the bootstrap
// interface, hears from its children and its own node's other tasks, and hands the problems of its part of the tree up.
// Bounded: each level of the tree waits a little longer than the one below it.
//
// Threads: one. Blocks until all is well or the time is over.
#ifndef NCCL_TUNE_LAUNCHER_GATHER_H_
#define NCCL_TUNE_LAUNCHER_GATHER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/links.h"
#include "launcher/message.h"

namespace nccl_tune::launcher {

struct GatherPlan {
  std::uint32_t node = 0;
  std::uint32_t node_count = 1;
  std::string name{};                        // of this node
  std::vector<std::uint32_t> local_ranks{};  // the other tasks of this node
  std::string digest{};                      // of this task's NCCL settings
  std::chrono::milliseconds limit{10'000};   // of the whole preflight
};

// How long a connection may take to open, and how long a node waits for all of its part of the tree.
std::chrono::milliseconds ConnectLimit(const GatherPlan& plan);
std::chrono::milliseconds GatherLimit(const GatherPlan& plan);

// `links` are introduced and have been asked to connect to the parent and along the ring. The result is a kReady
// message with what this part of the tree found; it has been sent to the parent where there is one. `children` whose
// message never came are problems with an empty address and the child's number as rank.
Message Gather(const GatherPlan& plan, Links* links);

// For a task that is not its node's first: until its connection to that stands or has failed.
void AwaitParent(Links* links);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_GATHER_H_
