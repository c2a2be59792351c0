// SPDX-License-Identifier: Apache-2.0
//
// The nodes checked against each other before PROGRAM starts: rank 0 makes the verdict from all entries and the probes
// that failed, prints its lines, and offers its agreement, which is all that the other nodes get. Pure.
#ifndef NCCL_TUNE_LAUNCHER_PREFLIGHT_H_
#define NCCL_TUNE_LAUNCHER_PREFLIGHT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launcher/agree.h"
#include "launcher/agreement.h"
#include "launcher/node_entry.h"

namespace nccl_tune::launcher {

inline constexpr int kPreflightFailed = 125;  // exit status of every task

// The last line of a verdict that ends the step.
inline constexpr const char* kStopped =
    "nothing is started on nodes that do not fit together; --preflight=warn starts all the same";

enum class Preflight {
  kOff,   // nothing is compared and nothing agreed on
  kWarn,  // differences are told, agreements made, and the step goes on
  kFail,  // the step ends where a grave difference is left
};

// "off", "warn" or "fail". Without `where`.
base::Result<Preflight> ParsePreflight(std::string_view text);

struct Verdict {
  Agreement agreement;               // `stop` set: every task ends with kPreflightFailed
  std::vector<std::string> lines{};  // for rank 0 to print, printable, at most 40; empty: nothing to tell
};

// `least`: what is told, kNote with --verbose.
Verdict Judge(const std::vector<NodeEntry>& entries, const std::vector<FailedProbe>& failures, Preflight preflight,
              Severity least = Severity::kWarn);

// What a task sees of the step that it belongs to.
struct StepSizes {
  std::uint32_t pmix_ranks = 0;             // 0: there is no PMIx
  std::optional<std::uint32_t> step_tasks;  // SLURM_STEP_NUM_TASKS
};

// What to tell a user whose tasks do not know of each other and would run as jobs of their own; nothing when they do.
// Every task comes to the same, so one of them says it.
std::optional<base::Error> FindSingletons(const StepSizes& sizes);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_PREFLIGHT_H_
