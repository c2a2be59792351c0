// SPDX-License-Identifier: Apache-2.0
//
// The frame of a run: header, memory, warm-up, the table over types, operations, roots and sizes, footer. The same in
// every process and in each of its workers; the leader's reporter alone is told what comes out.
#ifndef NCCL_TUNE_BENCH_BENCHMARK_H_
#define NCCL_TUNE_BENCH_BENCHMARK_H_

#include <functional>
#include <optional>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"
#include "bench/reporter.h"

namespace nccl_tune::bench {

struct Outcome {
  bool right = true;   // no wrong data, on any rank
  bool enough = true;  // NCCL_TESTS_MIN_BW is reached
  Place place{};
  // What was asked for cannot be measured here. All processes come to the same: one message is enough.
  std::optional<base::Error> refused{};
};

struct RunParts {
  Backend* backend = nullptr;
  Reporter* reporter = nullptr;
  // Why this process cannot go on, found before it has connected; it connects all the same, so that all end
  // (Outcome::refused).
  std::optional<base::Error> refusal{};
  // Only with several threads: called once, by the first worker that fails, from its own thread, while others may wait
  // for it in the backend. It ends the process, or frees them (Backend::Abort) and returns.
  std::function<void(const base::Error&)> on_failure{};
};

// Threads of its own for -t. The Error is that of the first worker that failed.
base::Result<Outcome> RunBenchmark(const RunParts& parts, Options options);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BENCHMARK_H_
