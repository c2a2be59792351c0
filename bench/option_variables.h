// SPDX-License-Identifier: Apache-2.0
//
// What the environment adds to the flags: nccl-tests' variables, and our own. An empty variable counts as one that is
// not set. Pure; only options.cc needs it.
#ifndef NCCL_TUNE_BENCH_OPTION_VARIABLES_H_
#define NCCL_TUNE_BENCH_OPTION_VARIABLES_H_

#include <span>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// Mode and collective of `options` are set: the variables of alltoallv count for it only.
base::Status ReadVariables(const base::Environment& environment, Options& options);

struct Variable {
  std::string_view name;
  std::string_view value;  // its name in the help
  std::string_view help;
};

// All that --help, nccl-bench(1) and docs/nccl-tests-compat.md list. NCCL_BENCH_NCCL_LIB is read by the nccl backend.
std::span<const Variable> Variables();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_OPTION_VARIABLES_H_
