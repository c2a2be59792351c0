// SPDX-License-Identifier: Apache-2.0
#include "bench/schedule.h"

#include <algorithm>

namespace nccl_tune::bench {
namespace {

constexpr std::size_t kClass = 8;  // an eighth of the values is a class of its own

// The upper one of two in the middle: of two values the better one.
double UpperMedian(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Pair Ordered(std::uint64_t a, std::uint64_t b) { return {.first = std::min(a, b), .second = std::max(a, b)}; }

}  // namespace

std::uint64_t RoundCount(std::uint64_t nodes) {
  if (nodes < 2) return 0;
  return nodes % 2 == 0 ? nodes - 1 : nodes;
}

// Node r sits at the top of a circle of an odd number of nodes; pairs are opposite each other. With an even number the
// last node, outside the circle, goes with the one at the top.
std::vector<Pair> Round(std::uint64_t nodes, std::uint64_t index) {
  const std::uint64_t circle = RoundCount(nodes);
  std::vector<Pair> pairs;
  if (circle == 0) return pairs;
  pairs.reserve(nodes / 2);
  if (nodes % 2 == 0) pairs.push_back(Ordered(index, nodes - 1));
  for (std::uint64_t step = 1; step <= circle / 2; ++step) {
    pairs.push_back(Ordered((index + step) % circle, (index + circle - step) % circle));
  }
  return pairs;
}

std::vector<std::vector<Pair>> Rounds(std::uint64_t nodes) {
  std::vector<std::vector<Pair>> rounds;
  for (std::uint64_t index = 0; index < RoundCount(nodes); ++index) rounds.push_back(Round(nodes, index));
  return rounds;
}

double GoodValue(std::vector<double> values, double tolerance) {
  if (values.empty()) return 0;
  const std::size_t enough = std::max<std::size_t>(1, values.size() / kClass);
  while (true) {
    const double median = UpperMedian(values);
    std::vector<double> better;
    for (const double value : values) {
      if (value * tolerance > median) better.push_back(value);
    }
    if (better.empty() || better.size() < enough) return median;
    values = std::move(better);
  }
}

}  // namespace nccl_tune::bench
