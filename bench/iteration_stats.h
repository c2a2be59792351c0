// SPDX-License-Identifier: Apache-2.0
//
// What -I says of the times of single iterations, by nccl-tests' definitions. Pure.
#ifndef NCCL_TUNE_BENCH_ITERATION_STATS_H_
#define NCCL_TUNE_BENCH_ITERATION_STATS_H_

#include <cstddef>
#include <vector>

#include "bench/results.h"

namespace nccl_tune::bench {

// `times` are seconds, one an iteration, the longest over all processes; the first `skipped` of them stay in the list
// but count for nothing else. `per_process` are the same of each process, or empty with one process.
//
// Of the n that count, ascending from 0: p50 is number n/2 (of an even count the upper one of the middle), p95 and p99
// are the nearest rank, ceil(n * p / 100) - 1. The deviation is that of the population (divided by n). All are 0 when
// none counts.
IterationTimes SummariseIterations(std::vector<double> times, std::vector<std::vector<double>> per_process,
                                   std::size_t skipped);

// The longest over all processes of each iteration, as many as all processes have.
std::vector<double> LongestPerIteration(const std::vector<std::vector<double>>& per_process);

// The deviation in percent of the mean; 0 when that is not above 0.
double VariationPercent(const IterationTimes& times);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ITERATION_STATS_H_
