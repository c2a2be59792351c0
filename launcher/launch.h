// SPDX-License-Identifier: Apache-2.0
//
// One task of nccl-launch from its environment to PROGRAM's end.
//
// Threads: called once, by the main thread of a process without others. Prints to stderr; may not return, where the
// task becomes PROGRAM or ends by the signal that PROGRAM died of.
#ifndef NCCL_TUNE_LAUNCHER_LAUNCH_H_
#define NCCL_TUNE_LAUNCHER_LAUNCH_H_

#include <string>

#include "base/environment.h"
#include "launcher/options.h"

namespace nccl_tune::launcher {

// Exit status of a failure of our own, and of wrong use.
inline constexpr int kOwnFailure = 125;

// Prints "nccl-launch: TEXT" and returns `code`.
int Fail(int code, const std::string& text);
// For what is wrong in all tasks alike: task 0 says it for all.
int FailOnce(int code, const base::Environment& environment, const std::string& text);

// The exit status of this task.
int Launch(const Options& options, const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_LAUNCH_H_
