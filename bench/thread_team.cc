// SPDX-License-Identifier: Apache-2.0
#include "bench/thread_team.h"

#include <utility>

namespace nccl_tune::bench {

using base::Error;
using base::Result;

void ThreadTeam::Join(const Values& own, const CombineTwo& combine) {
  if (here_++ == 0) {
    combined_ = own;
    alike_ = true;
    return;
  }
  alike_ = alike_ && combined_.size() == own.size();
  for (std::size_t i = 0; alike_ && i < own.size(); ++i) combined_[i] = combine(combined_[i], own[i]);
}

Result<ThreadTeam::Values> ThreadTeam::Meet(const Values& own, const CombineTwo& combine, const Finish& finish) {
  const Error broken{.what = "another thread has ended the run"};
  std::unique_lock lock(mutex_);
  if (broken_) return broken;
  Join(own, combine);
  if (here_ < size_) {
    left_.wait(lock, [&, round = round_] { return broken_ || round_ != round; });
    return broken_ ? Result<Values>(broken) : answer_;
  }
  const Values combined = std::move(combined_);
  const bool alike = alike_;
  // All others wait in here. Without the lock, as it may take for ever and Break must not.
  lock.unlock();
  Result<Values> answer = alike ? finish(combined) : Error{.what = "the threads bring lists of different lengths"};
  lock.lock();
  answer_ = std::move(answer);
  here_ = 0;
  ++round_;
  left_.notify_all();
  return broken_ ? Result<Values>(broken) : answer_;
}

void ThreadTeam::Break() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
  left_.notify_all();
}

}  // namespace nccl_tune::bench
