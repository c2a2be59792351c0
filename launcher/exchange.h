// SPDX-License-Identifier: Apache-2.0
//
// All tasks of a step come together: one fence carries an entry a node, the probes are made, rank 0 judges, and a
// second fence carries its verdict. Without a preflight the first fence is all.
//
// Threads: called by one thread. On an Error the step cannot go on; the caller prints it and aborts the exchange.
#ifndef NCCL_TUNE_LAUNCHER_EXCHANGE_H_
#define NCCL_TUNE_LAUNCHER_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/agreement.h"
#include "launcher/links.h"
#include "launcher/node_entry.h"
#include "launcher/preflight.h"
#include "pmix/exchange.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

// What a task brings.
struct Bringing {
  pmix::Step step{};
  std::vector<std::uint32_t> tasks{};       // of each node
  std::vector<std::uint32_t> node_ranks{};  // of this node, ascending; the first is its leader
  std::uint32_t procs = 1;                  // ranks that this task will start
  bool procs_vary = false;                  // other nodes' tasks may start another number
  std::string address{};                    // a number, where other nodes reach this one over the bootstrap interface
  std::string digest{};                     // SettingsOf this task, compared within the node
  NodeEntry entry{};                        // of a leader, with a preflight
  std::string program{};                    // for messages
  int exec_error = 0;                       // errno that it would give here
  std::string master_address{};             // of rank 0
  std::string fallback_address{};           // of rank 0: where the nodes do not meet over its bootstrap interface
  std::uint16_t master_port = 0;            // of rank 0
  Preflight preflight = Preflight::kWarn;
  Severity least = Severity::kWarn;  // what is told
  bool supervised = true;            // the links stay
  std::chrono::milliseconds preflight_limit{10'000};
  std::chrono::milliseconds start_limit{60'000};
};

// What it takes away.
struct Together {
  std::string master_address{};
  std::uint16_t master_port = 0;
  Agreement agreement{};
  int status = 0;                    // not 0: every task ends with it; rank 0 has the reason in `lines`
  std::vector<std::string> lines{};  // rank 0: to be printed
  std::vector<std::string> names{};  // rank 0, with a preflight: of the nodes
  std::vector<NodeEntry> entries{};  // rank 0, with a preflight
  std::uint32_t first_rank = 0;      // of those this task starts, where each starts several
  std::uint32_t all_ranks = 0;
  Links links{};             // where supervised
  std::size_t children = 0;  // tasks that have this one for a parent
};

base::Result<Together> ComeTogether(pmix::Exchange& exchange, const Bringing& bringing);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_EXCHANGE_H_
