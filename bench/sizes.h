// SPDX-License-Identifier: Apache-2.0
//
// Which sizes are measured. Pure.
#ifndef NCCL_TUNE_BENCH_SIZES_H_
#define NCCL_TUNE_BENCH_SIZES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::bench {

struct Sweep {
  std::uint64_t min_bytes = 32U << 20U;
  std::uint64_t max_bytes = 32U << 20U;
  std::uint64_t step_bytes = 1U << 20U;
  std::uint64_t factor = 1;  // used instead of the step when more than 1
};

// "32M", "1.5k", "8", "2 m", "1e6", "0x10": a number with an optional K, M or G (powers of 1024), as nccl-tests reads
// it; a part of a byte is dropped. Fails on anything else and from 2^63 on.
base::Result<std::uint64_t> ParseSize(std::string_view text);

// Fails on a sweep that is empty or would not end.
base::Status CheckSweep(const Sweep& sweep);

// The sizes of a valid sweep, ascending, at least one unless max_bytes was cut below min_bytes.
std::vector<std::uint64_t> SizesOf(const Sweep& sweep);

// The largest size that `memory` bytes of one rank allow, as nccl-tests computes it: 1 GiB and a reserve of 1 GiB per
// started 16 GiB, at most 4 GiB, stay free; the rest serves 3 buffers with data check, 2 without. Where that leaves
// nothing (a small host), half of the memory serves the buffers.
std::uint64_t LargestSize(std::uint64_t memory, bool with_check);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SIZES_H_
