// SPDX-License-Identifier: Apache-2.0
//
// NCCL_TESTS_SPLIT and NCCL_TESTS_SPLIT_MASK: which processes measure together. Pure.
#ifndef NCCL_TUNE_BENCH_SPLIT_H_
#define NCCL_TUNE_BENCH_SPLIT_H_

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// "MOD 2", "and0x7", "/ 0b100": AND, OR, MOD or DIV, or & | % /, in any case, then a number: decimal, hexadecimal after
// 0x, octal after 0, binary after 0b. The Error lacks `where`.
base::Result<Split> ParseSplit(std::string_view text);

// Hexadecimal digits, with or without 0x: AND with them.
base::Result<Split> ParseSplitMask(std::string_view text);

// The group of a process: those of one number measure together.
std::uint64_t GroupOf(const Split& split, std::uint64_t process);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SPLIT_H_
