// SPDX-License-Identifier: Apache-2.0
//
// What is known of a step that failed. Plain values, gathered by the supervisors; launcher/failure_report.h renders
// them. Texts are as they came and may hold anything.
#ifndef NCCL_TUNE_LAUNCHER_FAILURE_H_
#define NCCL_TUNE_LAUNCHER_FAILURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nccl_tune::launcher {

// How the process of one rank ended.
struct RankEnd {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string node{};
  std::int64_t pid = 0;
  std::optional<int> exit_code{};  // one of the two; neither where it is not known (the node is gone)
  std::optional<int> signal{};
  bool core = false;   // a core file was written
  double seconds = 0;  // since the start of the step
  std::string program{};
  std::vector<std::string> last_lines{};      // of its stderr, at most 20 of at most 400 bytes
  std::optional<std::string> nccl_last{};     // last line with NCCL's mark on stdout or stderr
  std::optional<std::string> python_error{};  // message of the file that TORCHELASTIC_ERROR_FILE names
  std::optional<bool> oom_killed{};           // by the kernel for want of memory
};

// What became of other ranks.
struct LaterEnds {
  std::string what{};                  // "ended (SIGTERM)", "exited with 1", "silent for 600 s"
  std::vector<std::uint32_t> ranks{};  // in any order
};

// What one rank of a run that hangs is doing.
struct RankState {
  std::uint32_t rank = 0;
  std::string node{};
  std::int64_t pid = 0;
  std::string state{};  // "S (sleeping), in futex_wait_queue"
  std::string last_line{};
  std::vector<std::string> stack{};  // where gdb or py-spy gave one
};

enum class FailureKind {
  kRankEnded,    // a rank exited with another status than 0 or by a signal
  kNodeLost,     // a node does not answer any more
  kTimeout,      // --timeout passed
  kHang,         // --no-output-timeout passed
  kCannotStart,  // the program could not be started on a node
};

struct Failure {
  FailureKind kind = FailureKind::kRankEnded;
  std::string job{};
  std::string step{};
  std::uint32_t nodes = 0;
  std::uint32_t ranks = 0;
  std::optional<RankEnd> first{};  // always there for kRankEnded and kCannotStart
  std::vector<LaterEnds> later{};
  std::vector<RankState> states{};       // of kHang
  std::vector<std::string> unreached{};  // names of nodes
  std::optional<double> limit{};         // seconds, of kTimeout and kHang
  std::int64_t started = 0;              // seconds since 1970
  std::int64_t ended = 0;
  std::vector<std::string> program{};      // with its arguments
  std::vector<std::string> differences{};  // lines of the preflight's table, if it found any
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_FAILURE_H_
