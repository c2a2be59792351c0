// SPDX-License-Identifier: Apache-2.0
//
// The whole of a run on a loaded backend: connect, header, table, footer. nccl-tests' text goes to `out` on process 0
// and nowhere else; wrong data is told on `notes` by the process that has it.
#ifndef NCCL_TUNE_BENCH_BENCHMARK_H_
#define NCCL_TUNE_BENCH_BENCHMARK_H_

#include <ostream>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// Whether all data was right and the wanted bandwidth reached, alike on all processes. An Error: the run broke; the
// caller says so and aborts the backend.
base::Result<bool> RunBenchmark(Backend& backend, const Options& options, std::ostream& out, std::ostream& notes);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BENCHMARK_H_
