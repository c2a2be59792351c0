// SPDX-License-Identifier: Apache-2.0
//
// Gives memory back before a long wait: a supervisor has used PMIx, hwloc and the node's facts, and needs none of them
// again.
#ifndef NCCL_TUNE_LAUNCHER_SHED_H_
#define NCCL_TUNE_LAUNCHER_SHED_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace nccl_tune::launcher {

// Pages of code come back from the page cache when they are needed, so this process need not hold them mapped; free
// heap goes to the kernel. Call it with one thread. Errors: what cannot be given back stays.
void ShedMemory();

// Of the text of /proc/self/maps the ranges that are code of files: never written to. Pure.
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> CodeRanges(std::string_view maps);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SHED_H_
