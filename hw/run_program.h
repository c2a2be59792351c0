// SPDX-License-Identifier: Apache-2.0
//
// Asks a program something: `srun --version`.
#ifndef NCCL_TUNE_HW_RUN_PROGRAM_H_
#define NCCL_TUNE_HW_RUN_PROGRAM_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace nccl_tune::hw {

// Standard output of the program, looked up in PATH, at most 64 KiB; its standard error goes nowhere, its input is
// empty. Fails when it cannot be started (kNotFound), does not end with 0, or not in time (it is killed).
base::Result<std::string> RunProgram(const std::vector<std::string>& words, std::chrono::milliseconds patience);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_RUN_PROGRAM_H_
