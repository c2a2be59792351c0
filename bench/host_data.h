// SPDX-License-Identifier: Apache-2.0
//
// Filling and checking buffers in host memory with the pattern of pattern.h. Pure. All buffers are aligned for the type
// and belong to the caller.
#ifndef NCCL_TUNE_BENCH_HOST_DATA_H_
#define NCCL_TUNE_BENCH_HOST_DATA_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "bench/backend.h"
#include "bench/collective.h"
#include "bench/types.h"

namespace nccl_tune::bench {

// Which pattern, seen from which rank.
struct DataKey {
  DataType type = DataType::kFloat;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t seed = 0;
  std::uint64_t ranks = 1;  // 1 to 2^31 - 1
  std::uint64_t rank = 0;
  bool reduces = true;  // Collective::reduces; else any bits are sent, and no stretch may be kReduced
};

// What `key.rank` sends: `count` elements to `data`.
void FillData(const DataKey& key, std::uint64_t count, void* data);

// Compares a result with what it must be. `stretches`: Collective::expects. kZero and kCopied must agree bit by bit,
// kReduced as Pattern::Accepts says.
Mismatches CheckData(const DataKey& key, std::span<const Stretch> stretches, const void* data);

// "rank 1: 3 wrong, first at offset 5: got 7, expected 6"; `element` is the one at `offset`. Outside of all stretches
// nothing is expected and nothing said of it.
std::string DescribeWrong(const DataKey& key, std::span<const Stretch> stretches, std::uint64_t wrong,
                          std::uint64_t offset, const void* element);

// For averages: each element by the number of ranks.
void DivideData(DataType type, std::uint64_t ranks, std::uint64_t count, void* data);

// For mulsum, before the sum: each element by PremulScalar(rank).
void ScaleData(DataType type, std::uint64_t rank, std::uint64_t count, void* data);

// PremulScalar(rank) as a number of the type, in the first BytesOf(type) bytes: the argument of
// ncclRedOpCreatePreMulSum.
std::array<unsigned char, 8> PremulBytes(DataType type, std::uint64_t rank);

// Turns over the bits of element `offset`.
void CorruptData(DataType type, std::uint64_t offset, void* data);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_HOST_DATA_H_
