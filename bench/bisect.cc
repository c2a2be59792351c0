// SPDX-License-Identifier: Apache-2.0
#include "bench/bisect.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kLeastGroup = 3;  // smaller ones are pairs
constexpr std::uint64_t kPairRounds = 3;
constexpr std::uint64_t kAllPairs = 8;   // so few nodes are measured in all pairs
constexpr std::uint64_t kMostTries = 8;  // looking for a partner that a node has not met

std::vector<NodeGroup> Halved(const std::vector<NodeGroup>& groups) {
  std::vector<NodeGroup> halves;
  for (const NodeGroup& group : groups) {
    const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
    halves.emplace_back(group.begin(), middle);
    halves.emplace_back(middle, group.end());
  }
  return halves;
}

}  // namespace

void Bisect::Measured::Add(double busbw) {
  if (busbw > best) best = busbw;  // false for NaN
  ++times;
}

Bisect::Bisect(std::uint64_t nodes, BisectSettings settings) : nodes_(nodes), settings_(settings), verdicts_(nodes) {
  AddLevels();
  Propose();
}

void Bisect::AddLevels() {
  NodeGroup all(nodes_);
  std::iota(all.begin(), all.end(), 0);
  // The first half of each is the smaller one, and the first group of each level its smallest.
  for (auto groups = Halved({all}); groups.front().size() >= kLeastGroup; groups = Halved(groups)) {
    levels_.push_back({.groups = groups, .measured = std::vector<Measured>(groups.size())});
  }
}

void Bisect::Take(const std::vector<double>& busbw) {
  ++findings_.rounds;
  if (stage_ == Stage::kGroups || stage_ == Stage::kTogether) {
    TakeGroups(busbw);
  } else {
    for (std::size_t i = 0; i < next_.size(); ++i) pairs_[{next_[i][0], next_[i][1]}].Add(busbw[i]);
  }
  ++step_;
  Propose();
}

void Bisect::TakeGroups(const std::vector<double>& busbw) {
  if (stage_ == Stage::kTogether) {
    for (std::size_t i = 0; i < asked_.size(); ++i) levels_[asked_[i].first].measured[asked_[i].second].Add(busbw[i]);
    return;
  }
  Level& level = levels_[step_];
  std::vector<double> values;
  for (std::size_t i = 0; i < busbw.size(); ++i) {
    level.measured[i].Add(busbw[i]);
    values.push_back(level.measured[i].best);
  }
  level.reference = GoodValue(std::move(values), settings_.tolerance);
}

// Fills next_, from the first stage on that has something left.
void Bisect::Propose() {
  next_.clear();
  while (next_.empty() && stage_ != Stage::kDone) {
    switch (stage_) {
      case Stage::kGroups:
        if (step_ < levels_.size()) next_ = levels_[step_].groups;
        break;
      case Stage::kPairs:
        ProposePairs();
        break;
      case Stage::kNodes:
        ProposeNodes();
        break;
      case Stage::kTogether:
        ProposeTogether();
        break;
      case Stage::kDone:
        break;
    }
    if (!next_.empty()) return;
    if (stage_ == Stage::kNodes) NameNodesAndLinks();
    if (stage_ == Stage::kTogether) NameGroups();
    stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
    step_ = 0;
  }
}

// Rounds far from each other, so that a node's partners are, too.
void Bisect::ProposePairs() {
  const std::uint64_t rounds = RoundCount(nodes_);
  const std::uint64_t wanted = nodes_ <= kAllPairs ? rounds : kPairRounds;
  if (step_ == wanted) {
    std::vector<double> values;
    for (const auto& [pair, measured] : pairs_) values.push_back(measured.best);
    findings_.reference = GoodValue(std::move(values), settings_.tolerance);
    Judge();
    const auto suspects = std::count_if(verdicts_.begin(), verdicts_.end(), [](const auto& one) { return !one.good; });
    // Where most nodes are slow, that is no chance, and good partners are few.
    const bool most = 2 * static_cast<std::uint64_t>(suspects) > nodes_;
    evidence_ = most ? std::min(2U, settings_.evidence) : settings_.evidence;
    return;
  }
  for (const Pair& pair : Round(nodes_, step_ * rounds / wanted)) next_.push_back({pair.first, pair.second});
}

void Bisect::Judge() {
  std::fill(verdicts_.begin(), verdicts_.end(), Verdict{});
  for (const auto& [pair, measured] : pairs_) {
    if (IsSlow(measured.best, findings_.reference)) continue;
    verdicts_[pair.first].good = true;
    verdicts_[pair.second].good = true;
  }
  for (const auto& [pair, measured] : pairs_) {
    if (verdicts_[pair.first].good == verdicts_[pair.second].good) continue;
    Verdict& suspect = verdicts_[verdicts_[pair.first].good ? pair.second : pair.first];
    suspect.evidence += measured.times;
    suspect.best = std::max(suspect.best, measured.best);
  }
}

void Bisect::ProposeNodes() {
  if (nodes_ < 3) return;
  Judge();
  NodeGroup good;
  NodeGroup suspects;
  for (std::uint64_t node = 0; node < nodes_; ++node) {
    if (verdicts_[node].good) {
      good.push_back(node);
    } else if (verdicts_[node].evidence < evidence_) {
      suspects.push_back(node);
    }
  }
  std::vector<bool> busy(nodes_);
  for (std::size_t i = 0; i < suspects.size() && i < good.size(); ++i) {
    const auto partner = PartnerOf(suspects[i], i + step_, good, busy);
    if (!partner) continue;
    busy[suspects[i]] = true;
    busy[*partner] = true;
    next_.push_back({std::min(suspects[i], *partner), std::max(suspects[i], *partner)});
  }
  ProposeLinks(&busy);
}

// A good node that has nothing to do, from `position` on; rather one that `node` has not met.
std::optional<std::uint64_t> Bisect::PartnerOf(std::uint64_t node, std::uint64_t position, const NodeGroup& good,
                                               const std::vector<bool>& busy) const {
  std::optional<std::uint64_t> known;
  for (std::uint64_t attempt = 0; attempt < std::min<std::uint64_t>(kMostTries, good.size()); ++attempt) {
    const std::uint64_t candidate = good[(position + attempt) % good.size()];
    if (busy[candidate]) continue;
    if (!pairs_.contains({std::min(node, candidate), std::max(node, candidate)})) return candidate;
    if (!known) known = candidate;
  }
  return known;
}

bool Bisect::IsSlowLink(const Pair& pair, const Measured& measured) const {
  return verdicts_[pair.first].good && verdicts_[pair.second].good && IsSlow(measured.best, findings_.reference);
}

void Bisect::ProposeLinks(std::vector<bool>* busy) {
  for (const auto& [pair, measured] : pairs_) {
    if (!IsSlowLink(pair, measured) || measured.times >= settings_.evidence) continue;
    if ((*busy)[pair.first] || (*busy)[pair.second]) continue;
    (*busy)[pair.first] = true;
    (*busy)[pair.second] = true;
    next_.push_back({pair.first, pair.second});
  }
}

void Bisect::NameNodesAndLinks() {
  if (nodes_ < 3) return;
  for (std::uint64_t node = 0; node < nodes_; ++node) {
    if (!verdicts_[node].good) findings_.nodes.push_back({.node = node, .busbw = verdicts_[node].best});
  }
  for (const auto& [pair, measured] : pairs_) {
    if (IsSlowLink(pair, measured)) findings_.links.push_back({.pair = pair, .busbw = measured.best});
  }
  findings_.two_speeds = findings_.nodes.size() > 1 && 4 * findings_.nodes.size() > nodes_;
}

bool Bisect::IsExplained(const NodeGroup& group) const {
  const auto contains = [&](std::uint64_t node) { return group.front() <= node && node <= group.back(); };
  return std::any_of(findings_.nodes.begin(), findings_.nodes.end(),
                     [&](const auto& one) { return contains(one.node); }) ||
         std::any_of(findings_.links.begin(), findings_.links.end(),
                     [&](const auto& one) { return contains(one.pair.first) && contains(one.pair.second); });
}

template <typename Use>
void Bisect::ForEachSlowGroup(Use&& use) const {
  std::vector<bool> below;  // per group of the next level: it or a part of it is slow
  for (std::size_t depth = levels_.size(); depth-- > 0;) {
    const Level& level = levels_[depth];
    std::vector<bool> here(level.groups.size());
    for (std::size_t i = 0; i < level.groups.size(); ++i) {
      here[i] = !below.empty() && (below[2 * i] || below[2 * i + 1]);
      if (here[i] || !IsSlow(level.measured[i].best, level.reference) || IsExplained(level.groups[i])) continue;
      here[i] = true;
      use(depth, i);
    }
    below = std::move(here);
  }
}

void Bisect::ProposeTogether() {
  asked_.clear();
  ForEachSlowGroup([&](std::size_t depth, std::size_t i) {
    if (levels_[depth].measured[i].times >= settings_.evidence) return;
    asked_.emplace_back(depth, i);
    next_.push_back(levels_[depth].groups[i]);
  });
}

void Bisect::NameGroups() {
  ForEachSlowGroup([&](std::size_t depth, std::size_t i) {
    const Level& level = levels_[depth];
    findings_.groups.push_back(
        {.nodes = level.groups[i], .busbw = level.measured[i].best, .reference = level.reference});
  });
}

}  // namespace nccl_tune::bench
