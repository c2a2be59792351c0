// SPDX-License-Identifier: Apache-2.0
#include "bench/bisect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A cluster whose groups are as fast as their slowest node or link.
struct Cluster {
  std::uint64_t nodes = 0;
  std::map<std::uint64_t, double> slow{};  // node: its part of the full speed
  std::map<Pair, double> slow_links{};
  std::uint64_t slow_above =
      std::numeric_limits<std::uint64_t>::max();  // larger groups with node 0 have half the speed
  double noise = 0;                               // up to this part off
  double dips = 0;                                // probability of half the speed
  double full = 12.1;                             // GB/s of a pair
};

bool Contains(const NodeGroup& group, std::uint64_t node) {
  return std::binary_search(group.begin(), group.end(), node);
}

double Measure(const Cluster& cluster, const NodeGroup& group, std::mt19937_64* random) {
  double part = group.size() > cluster.slow_above && group.front() == 0 ? 0.5 : 1;
  for (const auto& [node, speed] : cluster.slow) {
    if (Contains(group, node)) part = std::min(part, speed);
  }
  for (const auto& [pair, speed] : cluster.slow_links) {
    if (Contains(group, pair.first) && Contains(group, pair.second)) part = std::min(part, speed);
  }
  const double size = 1 / (1 + 0.05 * std::log2(static_cast<double>(group.size())));
  const double off = std::uniform_real_distribution<>(-cluster.noise, cluster.noise)(*random);
  if (std::uniform_real_distribution<>(0, 1)(*random) < cluster.dips) part *= 0.5;
  return cluster.full * part * size * (1 + off);
}

BisectFindings Search(const Cluster& cluster, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bisect bisect(cluster.nodes);
  while (!bisect.Next().empty()) {
    std::set<std::uint64_t> busy;
    std::vector<double> busbw;
    for (const NodeGroup& group : bisect.Next()) {
      EXPECT_GE(group.size(), 2U);
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      for (const std::uint64_t node : group) EXPECT_TRUE(node < cluster.nodes && busy.insert(node).second);
      busbw.push_back(Measure(cluster, group, &random));
    }
    bisect.Take(busbw);
    if (bisect.findings().rounds > 1000) break;
  }
  return bisect.findings();
}

std::vector<std::uint64_t> Named(const BisectFindings& findings) {
  std::vector<std::uint64_t> nodes;
  for (const auto& one : findings.nodes) nodes.push_back(one.node);
  return nodes;
}

void ExpectFound(const Cluster& cluster, std::uint64_t most_rounds, std::uint64_t seed = 1) {
  const BisectFindings findings = Search(cluster, seed);
  std::vector<std::uint64_t> slow;
  for (const auto& [node, speed] : cluster.slow) slow.push_back(node);
  EXPECT_EQ(Named(findings), slow);
  EXPECT_THAT(findings.links, IsEmpty());
  EXPECT_THAT(findings.groups, IsEmpty());
  EXPECT_LE(findings.rounds, most_rounds);
  for (const auto& one : findings.nodes) EXPECT_LT(one.busbw, 0.8 * findings.reference);
}

std::uint64_t Logarithm(std::uint64_t nodes) { return static_cast<std::uint64_t>(std::bit_width(nodes)); }

TEST(BisectTest, FindsNothingAmongEquals) {
  for (std::uint64_t nodes = 0; nodes <= 70; ++nodes) {
    SCOPED_TRACE(nodes);
    ExpectFound({.nodes = nodes}, Logarithm(nodes) + 5);
    ExpectFound({.nodes = nodes, .noise = 0.05}, Logarithm(nodes) + 5);
  }
}

TEST(BisectTest, FindsOneNode) {
  for (std::uint64_t nodes = 3; nodes <= 33; ++nodes) {
    for (std::uint64_t bad = 0; bad < nodes; ++bad) {
      SCOPED_TRACE(std::to_string(bad) + " of " + std::to_string(nodes));
      ExpectFound({.nodes = nodes, .slow = {{bad, 0.5}}, .noise = 0.05}, Logarithm(nodes) + 6, nodes * 100 + bad);
    }
  }
}

TEST(BisectTest, FindsTwoNodes) {
  for (const std::uint64_t nodes : {4U, 5U, 8U, 13U, 16U}) {
    for (std::uint64_t one = 0; one < nodes; ++one) {
      for (std::uint64_t other = one + 1; other < nodes; ++other) {
        SCOPED_TRACE(std::to_string(one) + " and " + std::to_string(other) + " of " + std::to_string(nodes));
        ExpectFound({.nodes = nodes, .slow = {{one, 0.5}, {other, 0.7}}, .noise = 0.03}, Logarithm(nodes) + 8);
      }
    }
  }
}

TEST(BisectTest, FindsThreeNodes) {
  for (const std::uint64_t nodes : {8U, 9U, 12U, 16U}) {
    for (std::uint64_t one = 0; one < nodes; ++one) {
      for (std::uint64_t other = one + 1; other < nodes; ++other) {
        const std::uint64_t third = (other + 1 + one) % nodes;
        if (third == one || third == other) continue;
        SCOPED_TRACE(std::to_string(one) + ", " + std::to_string(other) + ", " + std::to_string(third) + " of " +
                     std::to_string(nodes));
        ExpectFound({.nodes = nodes, .slow = {{one, 0.4}, {other, 0.5}, {third, 0.6}}}, Logarithm(nodes) + 9);
      }
    }
  }
}

TEST(BisectTest, FindsNodesOfLargeClusters) {
  for (const std::uint64_t nodes : {1000U, 4097U, 16384U}) {
    SCOPED_TRACE(nodes);
    const std::uint64_t rounds = Logarithm(nodes) + 6;
    ExpectFound({.nodes = nodes, .noise = 0.08}, rounds);
    ExpectFound({.nodes = nodes, .slow = {{nodes - 1, 0.5}}, .noise = 0.08}, rounds);
    ExpectFound({.nodes = nodes, .slow = {{0, 0.5}, {nodes / 2, 0.1}}, .noise = 0.08}, rounds);
    ExpectFound({.nodes = nodes, .slow = {{7, 0.5}, {8, 0.0}, {nodes / 2 + 1, 0.7}}, .noise = 0.08}, rounds);
  }
}

TEST(BisectTest, FindsARackOfBadNodes) {
  Cluster cluster{.nodes = 1024, .noise = 0.05};
  for (std::uint64_t node = 320; node < 352; ++node) cluster.slow[node] = 0.5;
  ExpectFound(cluster, 18);
}

TEST(BisectTest, IsNotMisledByChance) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    ExpectFound({.nodes = 512, .noise = 0.05, .dips = 0.01}, 25, seed);
    ExpectFound({.nodes = 512, .slow = {{99, 0.5}}, .noise = 0.05, .dips = 0.01}, 25, seed);
  }
}

TEST(BisectTest, TellsALinkFromANode) {
  for (std::uint64_t nodes = 3; nodes <= 8; ++nodes) {
    for (std::uint64_t first = 0; first < nodes; ++first) {
      for (std::uint64_t second = first + 1; second < nodes; ++second) {
        SCOPED_TRACE(std::to_string(first) + "-" + std::to_string(second) + " of " + std::to_string(nodes));
        const Pair pair{.first = first, .second = second};
        const BisectFindings findings = Search({.nodes = nodes, .slow_links = {{pair, 0.4}}, .noise = 0.02});
        EXPECT_THAT(findings.nodes, IsEmpty());
        ASSERT_EQ(findings.links.size(), 1U);
        EXPECT_EQ(findings.links[0].pair, pair);
      }
    }
  }
}

// A link that no measured pair uses shows in the smallest group with both ends.
TEST(BisectTest, FindsTheGroupOfABadLink) {
  const Pair pair{.first = 65, .second = 70};
  const BisectFindings findings = Search({.nodes = 256, .slow_links = {{pair, 0.4}}, .noise = 0.05});
  EXPECT_THAT(findings.nodes, IsEmpty());
  EXPECT_THAT(findings.links, IsEmpty());
  ASSERT_EQ(findings.groups.size(), 1U);
  EXPECT_THAT(findings.groups[0].nodes, ElementsAre(64, 65, 66, 67, 68, 69, 70, 71));
  EXPECT_LT(findings.groups[0].busbw, 0.5 * findings.groups[0].reference);
}

TEST(BisectTest, FindsWhatIsSlowOnlyInLargeGroups) {
  const BisectFindings findings = Search({.nodes = 64, .slow_above = 15, .noise = 0.05});
  EXPECT_THAT(findings.nodes, IsEmpty());
  ASSERT_EQ(findings.groups.size(), 1U);
  EXPECT_EQ(findings.groups[0].nodes.size(), 16U);
}

TEST(BisectTest, SeesTwoSpeeds) {
  for (const std::uint64_t every : {2U, 3U, 4U, 10U}) {
    SCOPED_TRACE(every);
    Cluster cluster{.nodes = 240, .noise = 0.05};
    for (std::uint64_t node = 0; node < cluster.nodes; node += every) cluster.slow[node] = 0.5;
    const BisectFindings findings = Search(cluster);
    EXPECT_EQ(Named(findings).size(), cluster.slow.size());
    EXPECT_EQ(findings.two_speeds, every < 4);
  }
  Cluster halves{.nodes = 240};
  for (std::uint64_t node = 0; node < 120; ++node) halves.slow[node] = 0.5;
  EXPECT_EQ(Named(Search(halves)).size(), 120U);
  EXPECT_TRUE(Search(halves).two_speeds);
}

// A few nodes with better links do not make all the others slow.
TEST(BisectTest, LeavesTheNormalAloneWhereFewAreFaster) {
  Cluster cluster{.nodes = 100, .noise = 0.05};
  for (std::uint64_t node = 0; node < 90; ++node) cluster.slow[node] = 0.5;
  EXPECT_THAT(Search(cluster).nodes, IsEmpty());
}

TEST(BisectTest, TakesFailedMeasurements) {
  for (const double value : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    Bisect bisect(9);
    while (!bisect.Next().empty()) bisect.Take(std::vector<double>(bisect.Next().size(), value));
    EXPECT_THAT(bisect.findings().nodes, IsEmpty());
    EXPECT_EQ(bisect.findings().reference, 0);
  }
}

TEST(BisectTest, ProposesTheSameAgain) {
  const Cluster cluster{.nodes = 100, .slow = {{3, 0.5}}, .noise = 0.05};
  EXPECT_EQ(Search(cluster).rounds, Search(cluster).rounds);
  EXPECT_EQ(Bisect(100).Next(), Bisect(100).Next());
}

}  // namespace
}  // namespace nccl_tune::bench
