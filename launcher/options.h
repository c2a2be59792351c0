// SPDX-License-Identifier: Apache-2.0
//
// The command line of nccl-launch. Pure.
#ifndef NCCL_TUNE_LAUNCHER_OPTIONS_H_
#define NCCL_TUNE_LAUNCHER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nccl_tune::launcher {

enum class Mode { kLaunch, kCheck, kHelp, kVersion };
enum class PreflightMode { kOff, kWarn, kFail };
enum class BindMode { kNone, kNuma, kGpu };

// After which failures the job is put back into the queue (--requeue-on).
struct RequeueOn {
  bool node = false;
  bool hang = false;
  bool timeout = false;
  bool signal = false;
  std::vector<int> exit_codes{};
  bool any() const { return node || hang || timeout || signal || !exit_codes.empty(); }
};

struct Options {
  Mode mode = Mode::kLaunch;
  bool verbose = false;
  bool exec = false;  // PROGRAM replaces the task; else it is supervised
  // Ranks that each task starts: nothing for one that the task is, 0 for one per GPU.
  std::optional<std::uint32_t> procs_per_node{};
  BindMode bind = BindMode::kNone;
  bool own_gpu = false;
  PreflightMode preflight = PreflightMode::kWarn;
  std::chrono::milliseconds preflight_limit{10'000};
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds grace{20'000};
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::chrono::milliseconds> no_output{};
  std::string log_dir{};  // empty: none
  bool tag_output = false;
  RequeueOn requeue_on{};
  std::vector<std::string> program{};  // PROGRAM and its arguments
};

// `arguments` without the program's own name. Everything after "--" belongs to PROGRAM. An Error names the option that
// is wrong and the valid ones.
base::Result<Options> ParseOptions(const std::vector<std::string>& arguments);

// What --help prints.
std::string HelpText();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_OPTIONS_H_
