// SPDX-License-Identifier: Apache-2.0
#include "bench/pair_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `busbw` of a pair the n-th time that it is measured.
using Cluster = std::function<double(std::uint64_t first, std::uint64_t second, unsigned times)>;

struct Ran {
  PairFindings findings{};
  std::uint64_t rounds = 0;
  std::map<Pair, unsigned> times{};
};

Ran RunOn(std::uint64_t nodes, const Cluster& cluster) {
  Ran ran;
  PairSearch search(nodes, 0.8);
  while (!search.Next().empty()) {
    std::set<std::uint64_t> busy;
    std::vector<double> busbw;
    for (const NodeGroup& group : search.Next()) {
      EXPECT_EQ(group.size(), 2U);
      EXPECT_LT(group[0], group[1]);
      EXPECT_LT(group[1], nodes);
      EXPECT_TRUE(busy.insert(group[0]).second);
      EXPECT_TRUE(busy.insert(group[1]).second);
      busbw.push_back(cluster(group[0], group[1], ++ran.times[{group[0], group[1]}]));
    }
    search.Take(busbw);
    EXPECT_LT(++ran.rounds, 2 * nodes + 4);
    EXPECT_EQ(search.rounds(), ran.rounds);
  }
  ran.findings = search.Findings();
  return ran;
}

TEST(PairSearchTest, EqualNodesNeedOneMeasurementOfEachPair) {
  for (const std::uint64_t nodes : {2U, 3U, 4U, 7U, 8U, 33U}) {
    const Ran ran = RunOn(nodes, [](auto, auto, auto) { return 12.0; });
    EXPECT_EQ(ran.rounds, RoundCount(nodes));
    EXPECT_EQ(ran.times.size(), nodes * (nodes - 1) / 2);
    EXPECT_THAT(ran.findings.nodes, IsEmpty());
    EXPECT_THAT(ran.findings.links, IsEmpty());
    EXPECT_DOUBLE_EQ(ran.findings.reference, 12);
  }
}

TEST(PairSearchTest, WithoutTwoNodesThereIsNothingToDo) {
  for (const std::uint64_t nodes : {0U, 1U}) EXPECT_EQ(RunOn(nodes, [](auto, auto, auto) { return 1.0; }).rounds, 0U);
}

TEST(PairSearchTest, ASlowNodeIsNamedAndMeasuredAgain) {
  for (const std::uint64_t nodes : {3U, 4U, 5U, 16U}) {
    const Ran ran = RunOn(nodes, [](auto first, auto second, auto) { return first == 1 || second == 1 ? 3.0 : 12.0; });
    ASSERT_EQ(ran.findings.nodes.size(), 1U) << nodes;
    EXPECT_EQ(ran.findings.nodes[0].node, 1U);
    EXPECT_THAT(ran.findings.links, IsEmpty());
    EXPECT_EQ(ran.rounds, RoundCount(nodes) + 3);
  }
}

TEST(PairSearchTest, ASlowLinkIsNamed) {
  const Ran ran = RunOn(5, [](auto first, auto second, auto) { return first == 1 && second == 3 ? 3.0 : 12.0; });
  EXPECT_THAT(ran.findings.nodes, IsEmpty());
  ASSERT_EQ(ran.findings.links.size(), 1U);
  EXPECT_EQ(ran.findings.links[0].pair, (Pair{.first = 1, .second = 3}));
  EXPECT_EQ((ran.times.at({.first = 1, .second = 3})), 4U);
}

TEST(PairSearchTest, WhatIsSlowOnceIsNotNamed) {
  const Ran ran = RunOn(6, [](auto first, auto, auto times) { return first == 0 && times == 1 ? 1.0 : 12.0; });
  EXPECT_THAT(ran.findings.nodes, IsEmpty());
  EXPECT_THAT(ran.findings.links, IsEmpty());
}

TEST(PairSearchTest, ANodeThatNeverAnswersIsSlow) {
  for (const double broken : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Ran ran = RunOn(4, [&](auto, auto second, auto) { return second == 3 ? broken : 12.0; });
    ASSERT_EQ(ran.findings.nodes.size(), 1U);
    EXPECT_EQ(ran.findings.nodes[0].node, 3U);
    EXPECT_EQ(ran.findings.nodes[0].median, 0);
  }
}

TEST(PairSearchTest, NothingWorksAndNothingIsNamed) {
  const Ran ran = RunOn(4, [](auto, auto, auto) { return 0.0; });
  EXPECT_THAT(ran.findings.nodes, IsEmpty());
}

}  // namespace
}  // namespace nccl_tune::bench
