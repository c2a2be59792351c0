// SPDX-License-Identifier: Apache-2.0
#include "bench/rail_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/drawn.h"

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Rails = std::vector<std::size_t>;

constexpr double kTolerance = 0.8;

std::vector<RailResult> Equal(std::size_t count) {
  std::vector<RailResult> rails;
  for (std::size_t i = 0; i < count; ++i) rails.push_back({.name = "rail" + std::to_string(i) + ":1", .gbps = 400});
  return rails;
}

// Of each rail what its first, second, ... measurement draws, in GB/s.
using Drawn = std::vector<std::vector<double>>;

struct Searched {
  std::vector<Rails> rounds{};
  std::vector<bool> slow{};
  std::vector<std::size_t> times{};
};

Searched SearchIn(const Drawn& drawn) {
  RailSearch search(Equal(drawn.size()), kTolerance);
  Searched searched;
  std::vector<std::size_t> at(drawn.size());
  while (!search.Next().empty()) {
    searched.rounds.push_back(search.Next());
    std::vector<double> busbw;
    for (const std::size_t rail : search.Next()) busbw.push_back(drawn[rail].at(at[rail]++));
    EXPECT_TRUE(search.Take(busbw, search.Wish(busbw, {})).ok());
  }
  searched.slow = SlowRails(search.results(), kTolerance);
  for (const RailResult& one : search.results()) searched.times.push_back(one.times);
  return searched;
}

TEST(RailSearchTest, EqualRailsWithNoiseAreNotNamed) {
  for (const Drawn& drawn : std::vector<Drawn>{
           {{46}, {45}, {47}, {46}},
           {{46}, {20, 45}, {47}, {46}},
           {{46}, {20, 31, 12, 45}, {47}, {46}},
           {{11, 46}, {12, 10, 45}, {13, 11, 9, 44}, {46}},
           {{0, 46}, {46}},
           {{20, 19, 46}, {46}},
           {{46}, {20, 46}, {20, 46}, {20, 46}, {20, 46}, {46}, {20, 46}, {46}},
           {{36.7, 46}, {46}},
           {{36.9}, {46}},
           {{5}},
       }) {
    SCOPED_TRACE(::testing::PrintToString(drawn));
    EXPECT_THAT(SearchIn(drawn).slow, ::testing::Each(false));
  }
}

TEST(RailSearchTest, ASlowRailIsNamedAfterFourMeasurements) {
  const Searched one = SearchIn({{46}, {20, 22, 21, 19}, {45}, {46}});
  EXPECT_THAT(one.rounds, ElementsAre(Rails{0, 1, 2, 3}, Rails{1}, Rails{1}, Rails{1}));
  EXPECT_THAT(one.slow, ElementsAre(false, true, false, false));
  EXPECT_THAT(one.times, ElementsAre(1, 4, 1, 1));
  // Noise hides nothing: the good ones are found by their best.
  const Searched noisy = SearchIn({{12, 46}, {20, 22, 21, 19}, {11, 10, 45, 1}, {46}});
  EXPECT_THAT(noisy.slow, ElementsAre(false, true, false, false));
  EXPECT_THAT(SearchIn({{22, 21, 23, 22}, {46}}).slow, ElementsAre(true, false));
  EXPECT_THAT(SearchIn({{0, 0, 0, 0}, {46}}).slow, ElementsAre(true, false));
}

TEST(RailSearchTest, OfManyNoisySearchesOnlyThoseWithFourSlowDrawsNameARail) {
  constexpr std::size_t kRails = 8;
  std::uint64_t named = 0;
  std::uint64_t suspected = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Drawn drawn(kRails);
    for (std::uint64_t rail = 0; rail < kRails; ++rail) {
      for (std::uint64_t time = 0; time < RailSearch::kMostTimes; ++time) {
        const std::uint64_t bits = Mix(seed, rail * RailSearch::kMostTimes + time);
        const double whole = 44 + static_cast<double>(bits >> 60U) / 8;
        drawn[rail].push_back(bits % 5 == 0 ? whole / 2 : whole);
      }
    }
    const Searched searched = SearchIn(drawn);
    for (std::size_t rail = 0; rail < kRails; ++rail) {
      const bool is_slow = std::ranges::all_of(drawn[rail], [](double busbw) { return busbw < 35; });
      EXPECT_EQ(searched.slow[rail], is_slow) << seed << " " << rail;
      named += searched.slow[rail] ? 1 : 0;
      suspected += searched.times[rail] > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(suspected, 1500U) << "named if each were measured once";
  EXPECT_LT(named, 20U);
}

TEST(RailSearchTest, NoRailCarriesAnything) {
  const Searched none = SearchIn({{0}, {0}});
  EXPECT_THAT(none.rounds, ElementsAre(Rails{0, 1}));
  EXPECT_THAT(none.slow, ElementsAre(false, false));
  EXPECT_THAT(SearchIn({}).rounds, IsEmpty());
}

TEST(RailSearchTest, AllProcessesMeasureTheSame) {
  RailSearch first(Equal(3), kTolerance);
  RailSearch other(Equal(3), kTolerance);
  const std::vector<std::vector<double>> rounds = {{46, 20, 45}, {21, 45}, {44}};
  const std::vector<Rails> astray_there = {{2}, {}, {}};
  std::vector<Rails> seen;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    ASSERT_EQ(first.Next(), other.Next());
    seen.push_back(first.Next());
    const std::vector<double> unknown(other.Next().size(), 0);
    const std::string answer =
        AnswerTo({WishToText(first.Wish(rounds[i], {})), WishToText(other.Wish(unknown, astray_there[i]))});
    ASSERT_TRUE(first.Take(rounds[i], WishFromText(answer, 3).value_or({})).ok());
    ASSERT_TRUE(other.Take(unknown, WishFromText(answer, 3).value_or({})).ok());
  }
  EXPECT_THAT(seen, ElementsAre(Rails{0, 1, 2}, Rails{1, 2}, Rails{1}));
  EXPECT_THAT(first.Next(), IsEmpty());
  EXPECT_THAT(other.Next(), IsEmpty());
  EXPECT_EQ(first.results()[2].times, 1U) << "what went astray does not count";
  EXPECT_EQ(first.results()[1].times, 3U);
  EXPECT_EQ(first.results()[1].busbw, 44);
}

TEST(RailSearchTest, WhatWentAstrayIsNeverTheBest) {
  RailSearch search(Equal(2), kTolerance);
  ASSERT_TRUE(search.Take({46, 99}, {.astray = {1}}).ok());
  EXPECT_THAT(search.Next(), ElementsAre(1));
  EXPECT_TRUE(search.IsLastBest(0));
  EXPECT_FALSE(search.IsLastBest(1));
  EXPECT_EQ(search.results()[1].busbw, 0);
  ASSERT_TRUE(search.Take({20}, {.slow = {1}}).ok());
  EXPECT_TRUE(search.IsLastBest(1));
  ASSERT_TRUE(search.Take({19}, {.slow = {1}}).ok());
  EXPECT_FALSE(search.IsLastBest(1));
  ASSERT_TRUE(search.Take({45}, {}).ok());
  EXPECT_TRUE(search.IsLastBest(1));
  EXPECT_EQ(search.results()[1].times, 3U);
  EXPECT_THAT(search.Next(), IsEmpty());
}

TEST(RailSearchTest, ARailThatKeepsGoingAstrayIsAnError) {
  RailSearch search(Equal(2), kTolerance);
  for (int i = 0; i < 3; ++i) {
    const std::vector<double> busbw(search.Next().size(), 40);
    ASSERT_TRUE(search.Take(busbw, {.astray = {1}}).ok());
  }
  const auto fourth = search.Take({40}, {.astray = {1}});
  ASSERT_FALSE(fourth.ok());
  EXPECT_THAT(fourth.error().ToString(),
              HasSubstr("--per-rail: the bytes of a rail keep leaving by another one: got \"1 rail1:1\""));
}

TEST(RailSearchTest, AWishAsText) {
  EXPECT_EQ(WishToText({}), "astray slow");
  EXPECT_EQ(WishToText({.astray = {0, 2}, .slow = {1}}), "astray 0 2 slow 1");
  EXPECT_EQ(AnswerTo({"astray slow 1", "astray 2 0 slow 5", "astray 2 slow"}), "astray 0 2 slow 1");
  EXPECT_EQ(AnswerTo({"astray slow", "nonsense"}), "astray slow");
  EXPECT_EQ(AnswerTo({}), "astray slow");
  EXPECT_TRUE(IsWishText("astray slow"));
  const auto wish = WishFromText("astray 0 2 slow 1\n", 3);
  ASSERT_TRUE(wish.ok());
  EXPECT_THAT(wish->astray, ElementsAre(0, 2));
  EXPECT_THAT(wish->slow, ElementsAre(1));
  for (const char* text : {"server1 mlx5_7:1", "", "astray", "slow"}) EXPECT_FALSE(IsWishText(text)) << text;
  for (const char* text : {"", "0 2", "astray", "astray 0", "astray 3 slow", "astray slow 3", "astray x slow",
                           "astray -1 slow", "astray 1,2 slow", "Astray slow", "slow astray", "astray slow slow"}) {
    EXPECT_FALSE(WishFromText(text, 3).ok()) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
