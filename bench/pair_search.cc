// SPDX-License-Identifier: Apache-2.0
#include "bench/pair_search.h"

#include <algorithm>
#include <tuple>

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kRepeatedRounds = 3;
constexpr std::uint64_t kEnoughNodes = 3;  // of fewer none can be slow

struct Suspect {
  std::uint64_t repeats = 0;
  bool is_explained = false;  // by a slow node
  Pair pair{};
};

}  // namespace

PairSearch::PairSearch(std::uint64_t nodes, double tolerance) : nodes_(nodes), tolerance_(tolerance), matrix_(nodes) {
  Propose();
}

void PairSearch::Take(const std::vector<double>& busbw) {
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const Pair pair{.first = next_[i][0], .second = next_[i][1]};
    const auto known = matrix_.At(pair.first, pair.second);
    if (known) ++repeats_[pair];
    if (!known || busbw[i] > *known) matrix_.Set(pair.first, pair.second, busbw[i]);
  }
  ++round_;
  Propose();
}

void PairSearch::Propose() {
  next_.clear();
  const std::uint64_t all = RoundCount(nodes_);
  if (round_ < all) {
    for (const Pair& pair : Round(nodes_, round_)) next_.push_back({pair.first, pair.second});
  } else if (nodes_ >= kEnoughNodes) {
    ProposeAgain(round_ >= all + kRepeatedRounds);
  }
}

// Links first: one measurement names them, while a node has many. `only_links`: those that were measured but once.
void PairSearch::ProposeAgain(bool only_links) {
  const PairFindings findings = Findings();
  std::vector<bool> is_slow(nodes_);
  for (const auto& one : findings.nodes) is_slow[one.node] = true;
  std::vector<Suspect> suspects;
  for (std::uint64_t a = 0; a < nodes_; ++a) {
    for (std::uint64_t b = a + 1; b < nodes_; ++b) {
      if (matrix_.At(a, b).value_or(0) >= tolerance_ * findings.reference) continue;
      const Pair pair{.first = a, .second = b};
      const auto known = repeats_.find(pair);
      const Suspect suspect{.repeats = known == repeats_.end() ? 0 : known->second,
                            .is_explained = is_slow[a] || is_slow[b],
                            .pair = pair};
      if (!only_links || (suspect.repeats == 0 && !suspect.is_explained)) suspects.push_back(suspect);
    }
  }
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& one, const Suspect& other) {
    return std::tie(one.is_explained, one.repeats, one.pair) < std::tie(other.is_explained, other.repeats, other.pair);
  });
  std::vector<bool> busy(nodes_);
  for (const Suspect& one : suspects) {
    if (busy[one.pair.first] || busy[one.pair.second]) continue;
    busy[one.pair.first] = busy[one.pair.second] = true;
    next_.push_back({one.pair.first, one.pair.second});
  }
}

}  // namespace nccl_tune::bench
