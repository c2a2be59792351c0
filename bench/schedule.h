// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of nodes are measured when, and what counts as good among what was measured. Nodes are numbers from 0 on.
// Pure.
#ifndef NCCL_TUNE_BENCH_SCHEDULE_H_
#define NCCL_TUNE_BENCH_SCHEDULE_H_

#include <compare>
#include <cstdint>
#include <vector>

namespace nccl_tune::bench {

struct Pair {
  std::uint64_t first = 0;  // less than second
  std::uint64_t second = 0;

  friend auto operator<=>(const Pair&, const Pair&) = default;
};

// Rounds that all pairs of `nodes` nodes need with each node in one pair at a time: nodes - 1, for an odd number nodes.
std::uint64_t RoundCount(std::uint64_t nodes);
// One of them, index < RoundCount: every node once, but for one of an odd number. (Circle method.)
std::vector<Pair> Round(std::uint64_t nodes, std::uint64_t index);
// All of them: each pair once.
std::vector<std::vector<Pair>> Rounds(std::uint64_t nodes);

// The value that the good ones among `values` have: the median, or where at least an eighth of them is better than
// median / tolerance, the median of those. So the bad nodes may be in most of the groups, but a few fast ones do not
// make all the others slow. 0 without values. 0 < tolerance < 1.
double GoodValue(std::vector<double> values, double tolerance);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SCHEDULE_H_
