// SPDX-License-Identifier: Apache-2.0
//
// What the first task of each node offers in the first fence, and how to find it: Slurm tells each task the ranks of
// its own node only.
#ifndef NCCL_TUNE_LAUNCHER_LEADERS_H_
#define NCCL_TUNE_LAUNCHER_LEADERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pmix/exchange.h"

namespace nccl_tune::launcher {

// One line, and the node's entry (launcher/node_entry.h) behind it where there is a preflight.
struct LeaderPoint {
  std::uint32_t node = 0;
  std::uint32_t rank = 0;  // not in the text: where it was found
  std::string name{};      // of the node
  std::string address{};   // where its launcher listens; empty: nowhere
  std::uint16_t port = 0;
  std::string socket_name{};  // for the other tasks of the node
  std::uint32_t procs = 1;    // ranks that the task will start
  int exec_error = 0;         // errno that PROGRAM would give there; 0: it can be executed
  std::string entry{};
};

std::string EncodePoint(const LeaderPoint& point);
// Without rank. Fails on what no EncodePoint of this version wrote.
base::Result<LeaderPoint> DecodePoint(std::string_view text);

constexpr const char* kLeaderKey = "nccl-tune.node";

// After the fence. Keeps what it has found.
class Leaders {
 public:
  // `tasks`: of each node of the step.
  Leaders(pmix::Exchange& exchange, std::vector<std::uint32_t> tasks);

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(tasks_.size()); }
  // The first task of a node: by the two usual ways to spread tasks, else by asking for each rank's entry. kNotFound
  // when the node has left none.
  base::Result<LeaderPoint> Find(std::uint32_t node);

 private:
  base::Result<LeaderPoint> At(std::uint32_t rank);
  base::Status Scan();

  pmix::Exchange& exchange_;
  std::vector<std::uint32_t> tasks_;
  std::vector<std::uint32_t> block_;
  bool scanned_ = false;
  std::map<std::uint32_t, LeaderPoint> found_{};
};

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_LEADERS_H_
