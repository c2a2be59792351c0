// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process may lock (RLIMIT_MEMLOCK). Registering memory with an RDMA device needs it: the classic
// default of 64 KiB fails.
#ifndef NCCL_TUNE_HW_LOCKED_MEMORY_H_
#define NCCL_TUNE_HW_LOCKED_MEMORY_H_

#include <optional>

#include "core/facts/node_details.h"

namespace nccl_tune::hw {

// The soft limit of the calling process. Nothing when the system does not say.
std::optional<facts::LockedMemory> OwnLockedMemory();

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_LOCKED_MEMORY_H_
