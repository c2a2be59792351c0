// SPDX-License-Identifier: Apache-2.0
#include "hw/locked_memory.h"

#include <sys/resource.h>

namespace nccl_tune::hw {

std::optional<facts::LockedMemory> OwnLockedMemory() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::nullopt;
  facts::LockedMemory out;
  if (limit.rlim_cur != RLIM_INFINITY) out.bytes = limit.rlim_cur;
  return out;
}

}  // namespace nccl_tune::hw
