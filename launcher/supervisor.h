// SPDX-License-Identifier: Apache-2.0
//
// Runs the ranks of one task until they have ended: signals go through to them, their output passes, the first failure
// of the whole step is named by rank 0's supervisor, and the rest ends within the grace period.
//
// Threads: the process has one. Ownership: takes the links and the ranks. Errors: a fault of the supervision (a lost
// parent, a full disk) is told on stderr and never ends a rank that is well, but for the loss of rank 0's supervisor.
#ifndef NCCL_TUNE_LAUNCHER_SUPERVISOR_H_
#define NCCL_TUNE_LAUNCHER_SUPERVISOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/failure.h"
#include "launcher/links.h"
#include "launcher/rank_process.h"
#include "launcher/signals.h"

namespace nccl_tune::launcher {

struct SupervisorOptions {
  std::chrono::milliseconds grace{20'000};  // from SIGTERM to SIGKILL: less than Slurm's KillWait of 30 s
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::chrono::milliseconds> no_output{};
};

struct Supervision {
  std::string node{};
  std::uint32_t node_id = 0;
  std::uint32_t rank = 0;          // of this task's first rank
  bool is_root = false;            // rank 0's
  std::size_t children = 0;        // tasks that have, or will have, this one for a parent
  std::uint32_t tasks = 1;         // of the whole step
  bool slurm_signals_all = false;  // Slurm sends its signals to the descendants of a task too (proctrack/linuxproc)
  std::vector<RankPlan> ranks{};
  SupervisorOptions options{};
  // Called by rank 0's supervisor, once, with what failed first; prints and keeps it. Also by one that has lost rank
  // 0's.
  std::function<void(Failure)> report{};
  std::function<void()> started{};    // called once the ranks run; may be empty
  std::function<void()> kill_step{};  // by rank 0's, when somebody below does not end; may be empty
};

// How this task has to end: by `signal`, so that Slurm sees what the rank died of, or with `status`.
struct Outcome {
  int status = 0;
  std::optional<int> signal{};
};

// `start`: the moment that all tasks share, the end of the last fence.
Outcome Supervise(Supervision supervision, Links links, const SavedSignals& signals, Clock::time_point start);

// Ends this process as its rank ended.
[[noreturn]] void EndAs(const Outcome& outcome);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SUPERVISOR_H_
