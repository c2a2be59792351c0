// SPDX-License-Identifier: Apache-2.0
//
// One cell of the table: time of a collective, and the check of its data after it. The clock runs around the
// iterations only.
#ifndef NCCL_TUNE_BENCH_MEASURE_H_
#define NCCL_TUNE_BENCH_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"
#include "bench/results.h"

namespace nccl_tune::bench {

// What one worker needs to take part. All workers of a run make the same calls in the same order.
struct Lane {
  Worker* worker = nullptr;
  const Options* options = nullptr;
  std::uint64_t ranks = 1;    // of the group
  std::uint64_t workers = 1;  // of all processes
  bool leads = false;         // worker 0 of process 0, whose numbers are reported
  bool primes = false;        // Identity::primes
  std::uint64_t seed = 0;     // of the last check
};

struct Measured {
  Block block{};
  std::vector<std::string> faults{};  // wrong data of this worker, one line per rank
};

// Only the leader's block holds what is gathered (iterations, spread).
base::Result<Measured> MeasureBlock(Lane& lane, const Question& question, const Call& call);

// Untimed calls of doubling sizes from `sweep`, each -w times.
base::Status WarmUp(Lane& lane, const Sweep& sweep, Call call);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MEASURE_H_
