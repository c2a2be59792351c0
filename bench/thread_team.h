// SPDX-License-Identifier: Apache-2.0
//
// The meeting point of a process's workers (-t): each brings values, the last to come may ask the other processes, all
// leave with the answer. Also a barrier.
//
// Threads: exactly `size` threads, each of which makes the same calls in the same order; Break from any. Errors: those
// of `finish`, to all alike; after Break every call, the waiting ones too, returns one.
#ifndef NCCL_TUNE_BENCH_THREAD_TEAM_H_
#define NCCL_TUNE_BENCH_THREAD_TEAM_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/result.h"

namespace nccl_tune::bench {

class ThreadTeam {
 public:
  explicit ThreadTeam(std::size_t size) : size_(size) {}

  using Values = std::vector<double>;
  using CombineTwo = std::function<double(double, double)>;
  // Makes the answer of the combined values, in one of the threads, while all others wait.
  using Finish = std::function<base::Result<Values>(const Values&)>;

  // `combine` makes one value of two, element by element; all lists of a meeting have the same length, else it fails.
  base::Result<Values> Meet(const Values& own, const CombineTwo& combine, const Finish& finish);
  // The run is over: nobody is to wait for a thread that does not come. Does not wait for `finish` either.
  void Break();

 private:
  void Join(const Values& own, const CombineTwo& combine);

  const std::size_t size_;
  std::mutex mutex_{};
  std::condition_variable left_{};
  bool broken_ = false;
  std::size_t here_ = 0;
  std::size_t round_ = 0;
  bool alike_ = true;  // the lengths of this round's lists
  Values combined_{};
  base::Result<Values> answer_{Values{}};  // of the round before; all have read it when the next one ends
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_THREAD_TEAM_H_
