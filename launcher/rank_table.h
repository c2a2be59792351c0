// SPDX-License-Identifier: Apache-2.0
//
// The ranks and each node's settings as text for a person. Pure.
#ifndef NCCL_TUNE_LAUNCHER_RANK_TABLE_H_
#define NCCL_TUNE_LAUNCHER_RANK_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/entry.h"

namespace nccl_tune::launcher {

// "0-3,6".
std::string CompactList(const std::vector<std::uint32_t>& ascending);

// One line per node, in the order of the node ids: name, ranks, settings. `entries` is indexed by rank. Tasks of one
// node that run under other settings than its first are named.
std::string RenderRankTable(const std::vector<Entry>& entries);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_TABLE_H_
