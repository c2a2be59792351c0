// SPDX-License-Identifier: Apache-2.0
//
// The command line of nccl-launch. Pure.
#ifndef NCCL_TUNE_LAUNCHER_OPTIONS_H_
#define NCCL_TUNE_LAUNCHER_OPTIONS_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace nccl_tune::launcher {

enum class Mode { kLaunch, kHelp, kVersion };

struct Options {
  Mode mode = Mode::kLaunch;
  bool verbose = false;
  std::chrono::milliseconds timeout{60'000};
  std::vector<std::string> program{};  // PROGRAM and its arguments
};

// `arguments` without the program's own name. Everything after "--" belongs to PROGRAM. An Error names the option that
// is wrong and the valid ones.
base::Result<Options> ParseOptions(const std::vector<std::string>& arguments);

// What --help prints.
std::string HelpText();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_OPTIONS_H_
