// SPDX-License-Identifier: Apache-2.0
//
// What is left of a deadline, as poll takes it. Threads: plain values.
#ifndef NCCL_TUNE_SPANK_DEADLINE_H_
#define NCCL_TUNE_SPANK_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace nccl_tune::spank {

using Clock = std::chrono::steady_clock;

// Milliseconds until `end`; 0 when it has passed.
inline int Remaining(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_DEADLINE_H_
