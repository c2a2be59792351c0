// SPDX-License-Identifier: Apache-2.0
#include "launcher/first_failure.h"

#include <algorithm>

namespace nccl_tune::launcher {

int StatusOf(const RankEnd& end) {
  constexpr int kSignalled = 128;
  return end.signal ? kSignalled + *end.signal : end.exit_code.value_or(0);
}

std::vector<LaterEnds> FirstFailure::GroupLater() const {
  std::vector<LaterEnds> groups;
  for (auto end = ends_.begin() + 1; end != ends_.end(); ++end) {
    const std::string what = end->signal ? "killed by signal " + std::to_string(*end->signal)
                                         : "ended with exit code " + std::to_string(end->exit_code.value_or(0));
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.what == what; });
    if (same == groups.end()) {
      groups.push_back({.what = what, .ranks = {end->rank}});
    } else {
      same->ranks.push_back(end->rank);
    }
  }
  return groups;
}

void FirstFailure::Note(Time when) {
  if (!decided_) due_ = due_ ? std::min(*due_, when) : when;
}

void FirstFailure::AddEnd(const RankEnd& end, Time now) {
  if (ends_.size() <= kMostLater) {
    ends_.push_back(end);
  } else if (const auto last = std::max_element(ends_.begin(), ends_.end(),
                                                [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
             end.seconds < last->seconds) {
    *last = end;
  }
  Note(now + kSettle);
}

void FirstFailure::AddLost(const std::vector<std::string>& nodes, Time now) {
  for (const std::string& node : nodes) {
    if (lost_.size() < kMostLater && std::find(lost_.begin(), lost_.end(), node) == lost_.end()) lost_.push_back(node);
  }
  Note(now + kSettleLost);
}

std::optional<Failure> FirstFailure::Decide(Time now) {
  if (decided_ || !due_ || now < *due_) return std::nullopt;
  decided_ = true;
  due_.reset();
  std::stable_sort(ends_.begin(), ends_.end(), [](const auto& a, const auto& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.rank < b.rank;
  });
  Failure failure;
  failure.unreached = lost_;
  std::sort(failure.unreached.begin(), failure.unreached.end());
  // The ranks of other nodes fail because one is gone, not the other way round: a loss that is known stands first.
  failure.kind = lost_.empty() ? FailureKind::kRankEnded : FailureKind::kNodeLost;
  if (!ends_.empty()) {
    failure.first = ends_.front();
    // One that never became PROGRAM has no process.
    if (failure.kind == FailureKind::kRankEnded && failure.first->pid == 0) failure.kind = FailureKind::kCannotStart;
    failure.later = GroupLater();
  }
  return failure;
}

int FirstFailure::StatusOf(const Failure& failure) {
  constexpr int kKilled = 137;
  constexpr int kTimedOut = 124;
  if (failure.kind == FailureKind::kTimeout || failure.kind == FailureKind::kHang) return kTimedOut;
  if (failure.kind == FailureKind::kNodeLost || !failure.first) return kKilled;
  return launcher::StatusOf(*failure.first);
}

}  // namespace nccl_tune::launcher
