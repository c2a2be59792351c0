// SPDX-License-Identifier: Apache-2.0
#include "bench/adaptive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using Source = std::function<double(std::size_t)>;

struct Played {
  Spread spread{};
  std::size_t dropped = 0;
  std::size_t samples = 0;
  std::size_t looks = 0;
  double elapsed = 0;
};

// As a benchmark would: the clock is the sum of the samples and of the sharing.
Played Play(const Source& source, AdaptiveLimits limits = {}, double sharing = 0) {
  Adaptive adaptive(limits);
  Played out;
  for (;;) {
    const std::uint64_t batch = adaptive.NextBatch(out.elapsed, sharing);
    ++out.looks;
    out.elapsed += sharing;
    if (batch == 0) break;
    for (std::uint64_t i = 0; i < batch; ++i) {
      const double sample = source(out.samples++);
      out.elapsed += sample;
      adaptive.Add(sample);
    }
  }
  out.spread = adaptive.Summary();
  out.dropped = adaptive.Dropped();
  return out;
}

// Distribution functions of the standard library differ between its versions; these do not.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  double Uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) * 0x1p-53; }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * 3.14159265358979 * Uniform()); }

 private:
  std::mt19937_64 engine_;
};

TEST(MedianIntervalRankTest, IsThatOfTheTables) {
  const struct {
    std::size_t samples;
    std::size_t rank;
  } rows[] = {{0, 0},  {1, 0},  {5, 0},   {6, 1},   {8, 1},    {9, 2},      {11, 2},     {12, 3},
              {15, 4}, {20, 6}, {30, 10}, {50, 18}, {100, 40}, {1000, 469}, {1001, 469}, {131072, 65181}};
  for (const auto& row : rows) EXPECT_EQ(MedianIntervalRank(row.samples), row.rank) << row.samples;
}

TEST(AdaptiveTest, ConstantTimesSettleWithTheLeast) {
  const Played run = Play([](std::size_t) { return 1e-3; });
  EXPECT_TRUE(run.spread.settled);
  EXPECT_EQ(run.spread.samples, 30U);
  EXPECT_EQ(run.dropped, 0U);
  EXPECT_EQ(run.spread.median, 1e-3);
  EXPECT_EQ(run.spread.p99, 1e-3);
  EXPECT_EQ(run.spread.low, 1e-3);
  EXPECT_EQ(run.spread.high, 1e-3);
}

TEST(AdaptiveTest, NoiseTakesMoreSamplesUntilItSettles) {
  Chance chance(1);
  const Played run = Play([&](std::size_t) { return 1e-4 * (1 + 0.05 * chance.Normal()); });
  EXPECT_TRUE(run.spread.settled);
  EXPECT_GT(run.spread.samples, 300U);
  EXPECT_LT(run.spread.samples, 2000U);
  EXPECT_NEAR(run.spread.median, 1e-4, 1e-6);
  EXPECT_NEAR(run.spread.p99, 1.116e-4, 3e-6);
  EXPECT_LE(run.spread.high - run.spread.low, 1e-6);
}

TEST(AdaptiveTest, TwoModesDoNotSettleOnTheirMiddle) {
  Chance chance(2);
  const Played run = Play([&](std::size_t) { return chance.Uniform() < 0.5 ? 1e-3 : 2e-3; }, {.seconds = 3});
  EXPECT_FALSE(run.spread.settled);
  EXPECT_EQ(run.spread.low, 1e-3);
  EXPECT_EQ(run.spread.high, 2e-3);
  EXPECT_NEAR(run.elapsed, 3, 0.05);
  Chance mostly(3);
  const Played clear = Play([&](std::size_t) { return mostly.Uniform() < 0.8 ? 1e-3 : 2e-3; });
  EXPECT_TRUE(clear.spread.settled);
  EXPECT_EQ(clear.spread.median, 1e-3);
  EXPECT_EQ(clear.spread.p99, 2e-3);
}

TEST(AdaptiveTest, WarmUpIsLeftOut) {
  Chance chance(4);
  const Played run = Play(
      [&](std::size_t i) { return 1e-3 * (1 + 2 * std::exp(-static_cast<double>(i) / 4) + 0.002 * chance.Normal()); });
  EXPECT_TRUE(run.spread.settled);
  EXPECT_GE(run.dropped, 8U);
  EXPECT_NEAR(run.spread.median, 1e-3, 1e-5);
}

TEST(AdaptiveTest, ASteadyDriftDoesNotSettleOnAShortLook) {
  const Played run = Play([](std::size_t i) { return 1e-3 * (1 + 0.01 * static_cast<double>(i)); }, {.seconds = 2});
  EXPECT_FALSE(run.spread.settled);
  EXPECT_EQ(run.dropped, 0U);
  EXPECT_GT(run.spread.high, run.spread.low * 1.05);
}

TEST(AdaptiveTest, AtMostHalfIsLeftOut) {
  Adaptive adaptive({});
  for (int i = 0; i < 100; ++i) adaptive.Add(1.0 - 0.005 * i);
  EXPECT_EQ(adaptive.Dropped(), 50U);
  Adaptive steps({});
  for (int i = 0; i < 100; ++i) steps.Add(i < 60 ? 2.0 - 0.01 * i : 1.0);
  EXPECT_LE(steps.Dropped(), 50U);
  EXPECT_EQ(steps.Summary().samples, 100 - steps.Dropped());
}

TEST(AdaptiveTest, OneOutlierMovesNothing) {
  for (const std::size_t at : {0U, 3U, 17U, 29U}) {
    const Played run = Play([&](std::size_t i) { return i == at ? 1.0 : 1e-3; });
    EXPECT_TRUE(run.spread.settled) << at;
    EXPECT_EQ(run.spread.median, 1e-3) << at;
    EXPECT_LE(run.samples, 35U) << at;
  }
}

TEST(AdaptiveTest, HeavyTailSettles) {
  Chance chance(5);
  const Played run = Play([&](std::size_t) { return 1e-4 / std::pow(chance.Uniform(), 0.5); });  // no variance
  EXPECT_TRUE(run.spread.settled);
  EXPECT_NEAR(run.spread.median, 1e-4 * std::sqrt(2.0), 2e-6);
  EXPECT_NEAR(run.spread.p99, 1e-3, 2e-4);
}

TEST(AdaptiveTest, TinyNumbersOfSamples) {
  Adaptive adaptive({});
  EXPECT_EQ(adaptive.Summary().samples, 0U);
  EXPECT_EQ(adaptive.Summary().median, 0);
  EXPECT_EQ(adaptive.NextBatch(0, 0), 4U);
  adaptive.Add(2);
  EXPECT_EQ(adaptive.Summary().median, 2);
  EXPECT_EQ(adaptive.Summary().p99, 2);
  adaptive.Add(4);
  EXPECT_EQ(adaptive.Summary().median, 3);
  EXPECT_EQ(adaptive.Summary().low, 2);
  EXPECT_EQ(adaptive.Summary().high, 4);
  for (int i = 0; i < 3; ++i) adaptive.Add(3);
  EXPECT_FALSE(adaptive.Summary().settled);  // five have no interval of 95 %
}

TEST(AdaptiveTest, TimeIsUp) {
  Adaptive none({.seconds = 0});
  EXPECT_EQ(none.NextBatch(0, 0), 0U);
  Adaptive slow({.seconds = 10});
  for (int i = 0; i < 4; ++i) slow.Add(2);
  EXPECT_EQ(slow.NextBatch(8, 0), 1U);  // one more fits
  EXPECT_EQ(slow.NextBatch(9.5, 0), 1U);
  EXPECT_EQ(slow.NextBatch(10, 0), 0U);
  EXPECT_EQ(slow.NextBatch(std::nan(""), 0), 0U);
  const Played run = Play([](std::size_t) { return 3.0; });
  EXPECT_EQ(run.samples, 4U);
  EXPECT_FALSE(run.spread.settled);
}

TEST(AdaptiveTest, WhatIsNoTimeIsLeftOut) {
  Adaptive adaptive({});
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), -0.001}) adaptive.Add(bad);
  EXPECT_EQ(adaptive.size(), 0U);
  for (int i = 0; i < 40; ++i) adaptive.Add(0);
  EXPECT_TRUE(adaptive.Summary().settled);
}

TEST(AdaptiveTest, SharingCostsATwentiethAtMostOnceTheTimesAreKnown) {
  Chance chance(6);
  // 10 us a call, 100 us to share: the first batches are short, the others 200 calls at least.
  const Played run = Play([&](std::size_t) { return 1e-5 * (1 + 0.2 * chance.Normal()); }, {}, 1e-4);
  EXPECT_TRUE(run.spread.settled);
  EXPECT_LT(static_cast<double>(run.looks) * 1e-4, 0.1 * run.elapsed);
  EXPECT_LT(run.looks, 40U);
}

TEST(AdaptiveTest, MemoryHasABound) {
  Chance chance(7);
  const Played run = Play([&](std::size_t) { return chance.Uniform() < 0.5 ? 1e-6 : 2e-6; }, {.seconds = 1e9});
  EXPECT_EQ(run.samples, std::size_t{1} << 17U);
  EXPECT_LT(run.looks, 80U);
  Adaptive full({.most = 3});
  for (int i = 0; i < 9; ++i) full.Add(i);
  EXPECT_EQ(full.size(), 3U);
  EXPECT_EQ(full.NextBatch(0, 0), 0U);
}

// The whole of it, the stopping included, holds what an interval of 95 % promises.
TEST(AdaptiveTest, TheIntervalHoldsTheTrueMedian) {
  const struct {
    const char* name;
    double median;
    std::function<double(Chance*)> draw;
  } rows[] = {
      {"normal, 1 %", 1e-3, [](Chance* c) { return 1e-3 * (1 + 0.01 * c->Normal()); }},
      {"normal, 3 %", 1e-3, [](Chance* c) { return 1e-3 * (1 + 0.03 * c->Normal()); }},
      {"lognormal, 10 %", 1e-3, [](Chance* c) { return 1e-3 * std::exp(0.1 * c->Normal()); }},
      {"uniform, 2 % wide", 1e-3, [](Chance* c) { return 1e-3 * (0.99 + 0.02 * c->Uniform()); }},
      {"exponential over a floor", 1e-3 + 3e-5 * std::log(2.0),
       [](Chance* c) { return 1e-3 - 3e-5 * std::log(c->Uniform()); }},
  };
  constexpr int kRuns = 2000;
  for (const auto& row : rows) {
    int holds = 0;
    for (int i = 0; i < kRuns; ++i) {
      Chance chance(static_cast<std::uint64_t>(i) + 1000);
      const Played run = Play([&](std::size_t) { return row.draw(&chance); }, {.seconds = 1e9});
      ASSERT_TRUE(run.spread.settled);
      holds += run.spread.low <= row.median && row.median <= run.spread.high ? 1 : 0;
    }
    std::cout << row.name << ": " << holds << " of " << kRuns << "\n";
    EXPECT_GE(holds, kRuns * 93 / 100) << row.name;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
