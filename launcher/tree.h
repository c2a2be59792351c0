// SPDX-License-Identifier: Apache-2.0
//
// Who speaks to whom: node i to node (i-1)/16, and in the preflight also to node i+1. Never all pairs: 16,384 nodes are
// four levels deep. Nodes are numbered as Slurm numbers them in the step. Pure.
#ifndef NCCL_TUNE_LAUNCHER_TREE_H_
#define NCCL_TUNE_LAUNCHER_TREE_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace nccl_tune::launcher {

constexpr std::uint32_t kFanOut = 16;

// Nothing for node 0.
std::optional<std::uint32_t> ParentOf(std::uint32_t node);

// Of a step with `count` nodes, ascending.
std::vector<std::uint32_t> ChildrenOf(std::uint32_t node, std::uint32_t count);

// How many levels lie below: 0 for a leaf.
std::uint32_t HeightOf(std::uint32_t node, std::uint32_t count);

// Nodes in the tree that `node` is the root of, itself among them.
std::uint32_t SizeOf(std::uint32_t node, std::uint32_t count);

// The one that `node` probes in the ring; nothing when it is alone.
std::optional<std::uint32_t> NextInRing(std::uint32_t node, std::uint32_t count);

// The rank of each node's first task, in the most common ways to spread tasks; which one holds is found by looking.
// `tasks` is the number of tasks of each node.
std::vector<std::uint32_t> FirstRanksBlock(const std::vector<std::uint32_t>& tasks);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_TREE_H_
