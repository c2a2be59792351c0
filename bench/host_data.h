// SPDX-License-Identifier: Apache-2.0
//
// Filling and checking buffers in host memory with the pattern of pattern.h. Pure.
#ifndef NCCL_TUNE_BENCH_HOST_DATA_H_
#define NCCL_TUNE_BENCH_HOST_DATA_H_

#include <cstdint>
#include <string>

#include "bench/backend.h"
#include "bench/types.h"

namespace nccl_tune::bench {

// Which pattern, seen from which rank.
struct DataKey {
  DataType type = DataType::kFloat;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t seed = 0;
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
};

// What `key.rank` sends: `count` elements to `data`, which is aligned for the type.
void FillData(const DataKey& key, std::uint64_t count, void* data);

// Compares `count` elements with the reduction over all ranks.
Mismatches CheckData(const DataKey& key, std::uint64_t count, const void* data);

// "rank 1: 3 wrong, first at offset 5: got 7, expected 6"; `element` is the one at `offset`.
std::string DescribeWrong(const DataKey& key, std::uint64_t wrong, std::uint64_t offset, const void* element);

// For averages: each element by the number of ranks.
void DivideData(DataType type, std::uint64_t ranks, std::uint64_t count, void* data);

// Turns over the bits of element `offset`.
void CorruptData(DataType type, std::uint64_t offset, void* data);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_HOST_DATA_H_
