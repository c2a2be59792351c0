// SPDX-License-Identifier: Apache-2.0
//
// The clock of one cell: how often a collective runs, what is waited for in between, and what is read from the clock.
#ifndef NCCL_TUNE_BENCH_TIMING_H_
#define NCCL_TUNE_BENCH_TIMING_H_

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/measure.h"
#include "bench/results.h"

namespace nccl_tune::bench {

struct Timing {
  double seconds = 0;      // of one call, as -a combines the workers
  double cpu_seconds = 0;  // of this worker, to start one call (-C)
  std::optional<IterationTimes> iterations{};
  std::optional<Spread> spread{};
};

// One call outside of group and recording; with -z it has ended on return (and, with -z 1, on all workers).
base::Status StartAndWait(Lane& lane, const Call& call, std::uint64_t iteration);

// -n iterations as nccl-tests times them, with -m, -z, -G, -I.
base::Result<Timing> TimeFixed(Lane& lane, const Call& call);

// As many calls as the median needs (--adaptive). The seconds are the median.
base::Result<Timing> TimeAdaptive(Lane& lane, const Call& call);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TIMING_H_
