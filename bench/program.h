// SPDX-License-Identifier: Apache-2.0
//
// nccl-bench as a whole: from the command line to the exit status. Reads the machine, sets variables for the libraries
// it loads, writes to stdout and stderr; where worker threads may hang it ends the process itself.
#ifndef NCCL_TUNE_BENCH_PROGRAM_H_
#define NCCL_TUNE_BENCH_PROGRAM_H_

#include <string>
#include <vector>

#include "base/environment.h"

namespace nccl_tune::bench {

// `called` is the name of the program, `arguments` are without it. Returns the exit status (ending.h).
int RunProgram(const std::string& called, const std::vector<std::string>& arguments,
               const base::Environment& environment);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PROGRAM_H_
