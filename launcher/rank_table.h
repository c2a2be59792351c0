// SPDX-License-Identifier: Apache-2.0
//
// The ranks and each node's settings as text for a person. Pure.
#ifndef NCCL_TUNE_LAUNCHER_RANK_TABLE_H_
#define NCCL_TUNE_LAUNCHER_RANK_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/node_entry.h"
#include "launcher/rank_list.h"

namespace nccl_tune::launcher {

// One line per node, in the given order: name, ranks, what its plan set and what someone else has set.
std::string RenderNodeTable(const std::vector<NodeEntry>& entries);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_TABLE_H_
