// SPDX-License-Identifier: Apache-2.0
//
// One rank under supervision: its process, its output, its end.
//
// Threads: used by one thread, which polls. Ownership: owns the process: the destructor kills what still runs.
#ifndef NCCL_TUNE_LAUNCHER_RANK_PROCESS_H_
#define NCCL_TUNE_LAUNCHER_RANK_PROCESS_H_

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/child.h"
#include "launcher/failure.h"
#include "launcher/log_file.h"
#include "launcher/stream.h"

namespace nccl_tune::launcher {

struct RankPlan {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  ProgramStart start{};
  std::string tag{};         // before each line of output; empty: none
  std::string error_file{};  // where torch.distributed.elastic's `record` leaves a traceback; empty: none
  std::shared_ptr<LogFile> log{};
};

class RankProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `node` names this node in messages; `started`: what the seconds of its end count from.
  RankProcess(RankPlan plan, std::string node, Time started);
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  // When it cannot be started its end is known at once, with the fault as its last line, and `fault` is filled.
  bool Start(const SavedSignals& signals, StartFault* fault);

  pid_t pid() const { return pid_; }
  std::uint32_t rank() const { return plan_.rank; }
  bool running() const { return pid_ > 0 && !end_; }
  // Ended, and its output is on its way: all that the rank has left running has closed it too, or it was dismissed.
  bool settled() const {
    return end_.has_value() && !output_.active() && !errors_.active() && (!dismissed_ || closed_ || pid_ <= 0);
  }
  const std::optional<RankEnd>& end() const { return end_; }
  Time last_output() const { return last_output_; }

  void AppendPolls(std::vector<pollfd>* polls);
  void Advance(const std::vector<pollfd>& polls, Time now);
  // When Advance must be called without anything having happened.
  std::optional<Time> NextDeadline() const;

  // What waitpid gave.
  void Reap(int status, Time now);

  void Signal(int number) const;  // to its process
  void KillAll() const;           // SIGKILL to its process group
  // Nobody waits for what it has left running: its last words are read for a moment more, then the rest is killed.
  void Dismiss(Time now);
  RankState Look(bool stack) const;

 private:
  std::string LastLine() const;
  void DescribeEnd(int status, Time now);

  RankPlan plan_;
  std::string node_;
  Time started_;
  pid_t pid_ = -1;
  Stream output_{};
  Stream errors_{};
  std::optional<RankEnd> end_{};
  Time ended_{};
  std::optional<Time> dismissed_{};
  bool closed_ = false;  // the moment after its end is over
  Time last_output_;
  std::optional<std::uint64_t> oom_kills_{};
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_PROCESS_H_
