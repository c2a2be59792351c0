// SPDX-License-Identifier: Apache-2.0
//
// How a run ended that did not end well, as plain values.
//
// Units: seconds since the ranks were started, measured on each node by its own steady clock from the fence that ended
// the start: good to the few milliseconds in which a fence releases the nodes.
#ifndef NCCL_TUNE_LAUNCHER_FAILURE_H_
#define NCCL_TUNE_LAUNCHER_FAILURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nccl_tune::launcher {

// The end of one rank.
struct RankEnd {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string node{};
  std::int64_t pid = 0;
  std::optional<int> exit_code{};  // one of both
  std::optional<int> signal{};
  bool core = false;  // a core was dumped
  double seconds = 0;
  std::vector<std::string> last_lines{};      // of stderr, or of stdout where stderr had none
  std::optional<std::string> nccl_last{};     // NCCL's last warning, or its last line
  std::optional<std::string> python_error{};  // what torch.distributed.elastic's `record` wrote
  std::optional<bool> oom_killed{};           // by the kernel, for want of memory; absent where that cannot be read
};

enum class FailureKind {
  kRankEnded,    // `first` is the rank
  kNodeLost,     // a node's launcher went away without a word: `lost_nodes`
  kTimeout,      // --timeout
  kHang,         // --no-output-timeout: `states`
  kCannotStart,  // PROGRAM could not be executed by `first`
};

// One rank of a run that hangs.
struct RankState {
  std::uint32_t rank = 0;
  std::string node{};
  std::int64_t pid = 0;
  std::string state{};  // "S (sleeping), waits in futex_wait_queue"
  std::string last_line{};
  std::vector<std::string> stack{};
};

struct Failure {
  FailureKind kind = FailureKind::kRankEnded;
  std::string job{};
  std::string step{};
  std::uint32_t nodes = 0;
  std::uint32_t ranks = 0;
  std::vector<std::string> program{};
  std::int64_t started = 0;  // wall clock, seconds since 1970
  std::int64_t ended = 0;
  double limit_seconds = 0;  // of kTimeout and kHang
  std::optional<RankEnd> first{};
  std::vector<RankEnd> later{};  // ended by themselves before they were told to, by time
  std::vector<std::string> lost_nodes{};
  std::vector<RankState> states{};
  std::vector<std::string> differences{};  // what the preflight found
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_FAILURE_H_
