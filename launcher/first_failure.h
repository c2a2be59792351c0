// SPDX-License-Identifier: Apache-2.0
//
// Rank 0's judgement: of all the ends that the supervisors tell, which was the first. One rank's end makes the others
// fail within milliseconds to minutes, and news travels over the tree, so a short time is left for an earlier one to
// arrive. Pure: time comes in as a value.
#ifndef NCCL_TUNE_LAUNCHER_FIRST_FAILURE_H_
#define NCCL_TUNE_LAUNCHER_FIRST_FAILURE_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/failure.h"

namespace nccl_tune::launcher {

class FirstFailure {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kSettle{300};
  // After a lost node: Slurm's PMIx plugin may end the step by SIGKILL at the same loss, and nothing stands before it.
  static constexpr std::chrono::milliseconds kSettleLost{5};
  static constexpr std::size_t kMostLater = 256;  // ends that are kept besides the first

  void AddEnd(const RankEnd& end, Time now);
  void AddLost(const std::vector<std::string>& nodes, Time now);

  // When Decide has something to say.
  std::optional<Time> due() const { return due_; }
  // Once, at `due` or later: the failure with what belongs to it filled in. Ends that a lost node caused do not hide
  // it: a rank that ended before the loss was noticed by more than a moment is the first all the same.
  std::optional<Failure> Decide(Time now);

  // 128 + signal, or the exit code; 137 for a lost node.
  static int StatusOf(const Failure& failure);

 private:
  void Note(Time when);
  std::vector<LaterEnds> GroupLater() const;

  std::vector<RankEnd> ends_;
  std::vector<std::string> lost_;
  std::optional<Time> due_;
  bool decided_ = false;
};

// What srun makes of an end.
int StatusOf(const RankEnd& end);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_FIRST_FAILURE_H_
