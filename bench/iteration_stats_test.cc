// SPDX-License-Identifier: Apache-2.0
#include "bench/iteration_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace nccl_tune::bench {
namespace {

// 1, 2, ... n, shuffled by a fixed step.
std::vector<double> UpTo(std::size_t n) {
  std::vector<double> times(n);
  for (std::size_t i = 0; i < n; ++i) times[(i * 7) % n] = static_cast<double>(i + 1);
  return times;
}

struct Case {
  std::vector<double> times;
  std::size_t skipped;
  double least, greatest, mean, p50, p95, p99, deviation;
};

TEST(IterationStatsTest, Definitions) {
  const std::vector<Case> cases = {
      {{5}, 0, 5, 5, 5, 5, 5, 5, 0},
      {{4, 2}, 0, 2, 4, 3, 4, 4, 4, 1},
      {{3, 1, 2}, 0, 1, 3, 2, 2, 3, 3, std::sqrt(2.0 / 3)},
      {{1, 2, 3, 4}, 0, 1, 4, 2.5, 3, 4, 4, std::sqrt(1.25)},
      {UpTo(20), 0, 1, 20, 10.5, 11, 19, 20, std::sqrt(33.25)},
      {UpTo(100), 0, 1, 100, 50.5, 51, 95, 99, std::sqrt(833.25)},
      {UpTo(101), 0, 1, 101, 51, 51, 96, 100, std::sqrt(850.0)},
      {UpTo(200), 0, 1, 200, 100.5, 101, 190, 198, std::sqrt(3333.25)},
      {{900, 1, 2, 3}, 1, 1, 3, 2, 2, 3, 3, std::sqrt(2.0 / 3)},
      {{900, 800, 7}, 2, 7, 7, 7, 7, 7, 7, 0},
      {{0, 0}, 0, 0, 0, 0, 0, 0, 0, 0},
  };
  for (const Case& one : cases) {
    const IterationTimes got = SummariseIterations(one.times, {}, one.skipped);
    const std::string what = std::to_string(one.times.size()) + " times, " + std::to_string(one.skipped) + " skipped";
    EXPECT_EQ(got.least, one.least) << what;
    EXPECT_EQ(got.greatest, one.greatest) << what;
    EXPECT_DOUBLE_EQ(got.mean, one.mean) << what;
    EXPECT_EQ(got.p50, one.p50) << what;
    EXPECT_EQ(got.p95, one.p95) << what;
    EXPECT_EQ(got.p99, one.p99) << what;
    EXPECT_DOUBLE_EQ(got.deviation, one.deviation) << what;
    EXPECT_EQ(got.times, one.times) << what;
    EXPECT_EQ(got.skipped, static_cast<int>(one.skipped)) << what;
  }
}

TEST(IterationStatsTest, NothingThatCounts) {
  for (const std::size_t skipped : {std::size_t{0}, std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    const std::vector<double> times = skipped == 0 ? std::vector<double>{} : std::vector<double>{1, 2};
    const IterationTimes got = SummariseIterations(times, {}, skipped);
    EXPECT_EQ(got.times, times);
    EXPECT_EQ(got.skipped, static_cast<int>(times.size()));
    EXPECT_EQ(got.greatest, 0);
    EXPECT_EQ(got.mean, 0);
    EXPECT_EQ(VariationPercent(got), 0);
  }
}

TEST(IterationStatsTest, TimesThatAreNoNumbersDoNotHide) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const IterationTimes got = SummariseIterations({none, 2, none, 1}, {}, 0);
  EXPECT_EQ(got.least, 1);
  EXPECT_TRUE(std::isnan(got.greatest));
  EXPECT_TRUE(std::isnan(got.mean));
  EXPECT_EQ(VariationPercent(got), 0);
}

TEST(IterationStatsTest, Variation) {
  EXPECT_DOUBLE_EQ(VariationPercent(SummariseIterations({4, 2}, {}, 0)), 100.0 / 3);
  EXPECT_EQ(VariationPercent(SummariseIterations({-4, 2}, {}, 0)), 0);
}

TEST(IterationStatsTest, Processes) {
  const std::vector<std::vector<double>> processes = {{1, 5, 2}, {3, 4, 1}};
  EXPECT_EQ(LongestPerIteration(processes), (std::vector<double>{3, 5, 2}));
  EXPECT_EQ(LongestPerIteration({{1, 5, 2}, {3, 4}}), (std::vector<double>{3, 5}));
  EXPECT_EQ(LongestPerIteration({{1}, {3, 4}}), (std::vector<double>{3}));
  EXPECT_EQ(LongestPerIteration({}), std::vector<double>{});
  EXPECT_EQ(SummariseIterations({3, 5, 2}, processes, 0).per_process, processes);
}

}  // namespace
}  // namespace nccl_tune::bench
