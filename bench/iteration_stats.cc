// SPDX-License-Identifier: Apache-2.0
#include "bench/iteration_stats.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nccl_tune::bench {
namespace {

// A time that is no number sorts behind all others.
bool Before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

double NearestRank(const std::vector<double>& sorted, std::size_t percent) {
  const std::size_t index = (sorted.size() * percent + 99) / 100 - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace

IterationTimes SummariseIterations(std::vector<double> times, std::vector<std::vector<double>> per_process,
                                   std::size_t skipped) {
  IterationTimes summary;
  skipped = std::min(skipped, times.size());
  std::vector<double> sorted(times.begin() + static_cast<std::ptrdiff_t>(skipped), times.end());
  std::sort(sorted.begin(), sorted.end(), Before);
  summary.skipped = static_cast<int>(skipped);
  summary.times = std::move(times);
  summary.per_process = std::move(per_process);
  if (sorted.empty()) return summary;
  const auto count = static_cast<double>(sorted.size());
  summary.least = sorted.front();
  summary.greatest = sorted.back();
  summary.p50 = sorted[sorted.size() / 2];
  summary.p95 = NearestRank(sorted, 95);
  summary.p99 = NearestRank(sorted, 99);
  double sum = 0;
  for (const double time : sorted) sum += time;
  summary.mean = sum / count;
  double squares = 0;
  for (const double time : sorted) squares += (time - summary.mean) * (time - summary.mean);
  summary.deviation = std::sqrt(squares / count);
  return summary;
}

std::vector<double> LongestPerIteration(const std::vector<std::vector<double>>& per_process) {
  std::vector<double> longest;
  for (const auto& times : per_process) {
    if (&times == &per_process.front()) {
      longest = times;
      continue;
    }
    if (times.size() < longest.size()) longest.resize(times.size());
    for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = std::max(longest[i], times[i]);
  }
  return longest;
}

double VariationPercent(const IterationTimes& times) { return times.mean > 0 ? times.deviation / times.mean * 100 : 0; }

}  // namespace nccl_tune::bench
