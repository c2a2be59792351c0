// SPDX-License-Identifier: Apache-2.0
#include "bench/pair_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr double kTolerance = 0.8;

struct Cluster {
  std::uint64_t nodes = 0;
  std::map<std::uint64_t, double> slow{};  // node: its part of the full speed
  std::map<Pair, double> slow_links{};
  double noise = 0;
};

PairMatrix MatrixOf(const Cluster& cluster) {
  std::mt19937_64 random(1);
  PairMatrix matrix(cluster.nodes);
  for (std::uint64_t a = 0; a < cluster.nodes; ++a) {
    for (std::uint64_t b = a + 1; b < cluster.nodes; ++b) {
      double part = 1;
      if (const auto one = cluster.slow.find(a); one != cluster.slow.end()) part = std::min(part, one->second);
      if (const auto one = cluster.slow.find(b); one != cluster.slow.end()) part = std::min(part, one->second);
      if (const auto one = cluster.slow_links.find({a, b}); one != cluster.slow_links.end()) part = one->second;
      const double off = std::uniform_real_distribution<>(-cluster.noise, cluster.noise)(random);
      matrix.Set(b, a, 10 * part * (1 + off));
    }
  }
  return matrix;
}

std::vector<std::string> NamesOf(std::uint64_t nodes) {
  std::vector<std::string> names;
  for (std::uint64_t node = 0; node < nodes; ++node) names.push_back("node" + std::to_string(node));
  return names;
}

TEST(PairMatrixTest, KeepsWhatIsMeasured) {
  PairMatrix matrix(3);
  EXPECT_EQ(matrix.At(0, 1), std::nullopt);
  matrix.Set(0, 1, 5);
  matrix.Set(2, 0, std::numeric_limits<double>::quiet_NaN());
  matrix.Set(1, 2, -1);
  EXPECT_EQ(matrix.At(1, 0), 5);
  EXPECT_EQ(matrix.At(0, 2), 0);
  EXPECT_EQ(matrix.At(2, 1), 0);
  EXPECT_EQ(matrix.At(1, 1), std::nullopt);
  EXPECT_EQ(PairMatrix(0).nodes(), 0U);
}

TEST(PairMatrixTest, TellsNodesFromLinks) {
  struct Case {
    const char* what;
    Cluster cluster;
    std::vector<std::uint64_t> nodes;
    std::vector<Pair> links;
  };
  for (const Case& one : std::vector<Case>{
           {"no node", {.nodes = 0}, {}, {}},
           {"one node", {.nodes = 1}, {}, {}},
           {"two, nothing to compare", {.nodes = 2, .slow = {{0, 0.1}}}, {}, {}},
           {"all equal", {.nodes = 20, .noise = 0.08}, {}, {}},
           {"one of three", {.nodes = 3, .slow = {{1, 0.5}}}, {1}, {}},
           {"a link of three", {.nodes = 3, .slow_links = {{{0, 2}, 0.5}}}, {}, {{0, 2}}},
           {"two of four", {.nodes = 4, .slow = {{0, 0.5}, {3, 0.5}}}, {0, 3}, {}},
           {"a link of four", {.nodes = 4, .slow_links = {{{1, 2}, 0.5}}, .noise = 0.05}, {}, {{1, 2}}},
           {"one of many", {.nodes = 50, .slow = {{49, 0.7}}, .noise = 0.05}, {49}, {}},
           {"three of eight", {.nodes = 8, .slow = {{0, 0.5}, {1, 0.6}, {2, 0.7}}, .noise = 0.05}, {0, 1, 2}, {}},
           {"a dead node", {.nodes = 8, .slow = {{5, 0}}}, {5}, {}},
           {"a node and a link",
            {.nodes = 9, .slow = {{4, 0.5}}, .slow_links = {{{0, 8}, 0.3}}, .noise = 0.05},
            {4},
            {{0, 8}}},
           {"three links of one node of eight",
            {.nodes = 8, .slow_links = {{{0, 1}, 0.5}, {{0, 2}, 0.5}, {{0, 3}, 0.5}}},
            {},
            {{0, 1}, {0, 2}, {0, 3}}},
           {"half of them", {.nodes = 6, .slow = {{1, 0.5}, {3, 0.5}, {5, 0.5}}}, {1, 3, 5}, {}},
           {"one faster than the others", {.nodes = 20, .slow_links = {{{0, 1}, 2.0}}}, {}, {}}}) {
    SCOPED_TRACE(one.what);
    const PairFindings findings = AnalysePairs(MatrixOf(one.cluster), kTolerance);
    std::vector<std::uint64_t> nodes;
    for (const auto& slow : findings.nodes) nodes.push_back(slow.node);
    std::vector<Pair> links;
    for (const auto& slow : findings.links) links.push_back(slow.pair);
    EXPECT_EQ(nodes, one.nodes);
    EXPECT_EQ(links, one.links);
    EXPECT_EQ(findings.medians.size(), one.cluster.nodes);
  }
}

TEST(PairMatrixTest, SaysHowMuch) {
  const PairFindings findings = AnalysePairs(MatrixOf({.nodes = 5, .slow = {{2, 0.5}}}), kTolerance);
  EXPECT_EQ(findings.reference, 10);
  ASSERT_THAT(findings.nodes, SizeIs(1));
  EXPECT_EQ(findings.nodes[0].median, 5);
  EXPECT_EQ(findings.nodes[0].slow_pairs, 4U);
  EXPECT_EQ(findings.nodes[0].pairs, 4U);
  EXPECT_EQ(findings.medians[0], 10);
}

TEST(PairMatrixTest, UsesWhatThereIs) {
  PairMatrix matrix(4);
  matrix.Set(0, 1, 10);
  matrix.Set(1, 2, 10);
  const PairFindings findings = AnalysePairs(matrix, kTolerance);
  EXPECT_THAT(findings.nodes, IsEmpty());
  EXPECT_EQ(findings.medians[3], std::nullopt);
  EXPECT_THAT(MatrixLines(matrix, findings, NamesOf(4)),
              ElementsAre("  # GB/s     0     1     2     3   median",  //
                          "  0 node0    .  10.0     -     -     10.0", "  1 node1 10.0     .  10.0     -     10.0",
                          "  2 node2    -  10.0     .     -     10.0", "  3 node3    -     -     -     .        -"));
}

TEST(PairMatrixTest, MarksSlowPairs) {
  PairMatrix matrix = MatrixOf({.nodes = 3});
  matrix.Set(0, 1, 381.4);
  matrix.Set(0, 2, 381.4);
  matrix.Set(1, 2, 0.052);
  EXPECT_THAT(
      MatrixLines(matrix, AnalysePairs(matrix, kTolerance), {"a", "node-with-a-name", "c"}),
      ElementsAre("  # GB/s                0     1     2   median",  //
                  "  0 a                   .   381   381      381", "  1 node-with-a-name  381     .  0.05*     191",
                  "  2 c                 381  0.05*    .      191"));
}

TEST(PairMatrixTest, FitsAScreen) {
  for (const std::uint64_t nodes : {0U, 1U, 2U, 32U}) {
    const PairMatrix matrix = MatrixOf({.nodes = nodes});
    const auto lines = MatrixLines(matrix, AnalysePairs(matrix, kTolerance), NamesOf(nodes));
    EXPECT_THAT(lines, SizeIs(nodes + 1));
    for (const std::string& line : lines) EXPECT_LT(line.size(), 225U);
  }
  PairMatrix matrix = MatrixOf({.nodes = 100, .slow = {{7, 0.5}}, .slow_links = {{{40, 41}, 0.2}}});
  const auto lines = MatrixLines(matrix, AnalysePairs(matrix, kTolerance), NamesOf(100));
  ASSERT_THAT(lines, SizeIs(8));
  EXPECT_EQ(lines[0],
            "node7: median 5.00 GB/s, slow with 99 of 99; least node0 5.00, node1 5.00, node2 5.00, node3 5.00");
  EXPECT_THAT(lines[1], StartsWith("node40: median 10.0 GB/s, slow with 2 of 99; least node41 2.00, node7 5.00"));
  EXPECT_THAT(lines[2], StartsWith("node41: median 10.0 GB/s, slow with 2 of 99; least node40 2.00, node7 5.00"));
}

}  // namespace
}  // namespace nccl_tune::bench
