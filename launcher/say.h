// SPDX-License-Identifier: Apache-2.0
//
// A line of our own on standard error, written at once so that lines of several tasks do not mix.
#ifndef NCCL_TUNE_LAUNCHER_SAY_H_
#define NCCL_TUNE_LAUNCHER_SAY_H_

#include <iostream>
#include <string>

namespace nccl_tune::launcher {

inline void Say(const std::string& text) { std::cerr << "nccl-launch: " + text + "\n" << std::flush; }

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SAY_H_
