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
#include "bench/collective.h"
#include "bench/options.h"
#include "bench/table.h"

namespace nccl_tune::bench {

struct Measured {
  Block block{};
  std::vector<std::string> faults{};  // wrong data of this process, one line per rank and check
};

// `place` is what Connect gave. The time is the mean over the processes, as nccl-tests' default.
base::Result<Measured> MeasureBlock(Backend& backend, const Place& place, const Options& options, const Call& call);

// Untimed calls of doubling sizes.
base::Status WarmUp(Backend& backend, const Place& place, const Options& options, DataType type, ReduceOp op);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MEASURE_H_
