// SPDX-License-Identifier: Apache-2.0
//
// Which tables a run measures, and whether it can: the options against what the processes and the library are. Pure.
#ifndef NCCL_TUNE_BENCH_TABLE_PLAN_H_
#define NCCL_TUNE_BENCH_TABLE_PLAN_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// One table part per type, in it one per operation, in it one per root. Of an "all" what the library cannot do is left
// out. A collective that lists no operations has one, one without a root has root 0.
std::vector<DataType> TypesOf(const Options& options, const Identity& identity);
std::vector<ReduceOp> OpsOf(const Options& options, const Identity& identity);
std::vector<std::uint64_t> RootsOf(const Options& options, std::uint64_t ranks);

// Whether the library cannot do the two together.
bool Lacks(const Identity& identity, DataType type, ReduceOp op);

// kUnsupported: a type or operation that was named is not possible with this library and these devices; kInvalidInput:
// the two together are not.
base::Status CheckAbilities(const Options& options, const Identity& identity);

// kInvalidInput: a rank that is not among `ranks`, or a matrix with fewer rows.
base::Status CheckRanks(const Options& options, std::uint64_t ranks);

// A matrix gives the sizes itself. kInvalidInput: the buffers would not hold what its busiest rank moves.
base::Status CheckMatrix(const Options& options, std::uint64_t ranks);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TABLE_PLAN_H_
