// SPDX-License-Identifier: Apache-2.0
//
// Flags held against each other: nccl-tests' refusals are Errors, what it disables or ignores is told in `warnings`.
// Pure; only options.cc needs it.
#ifndef NCCL_TUNE_BENCH_OPTION_CHECKS_H_
#define NCCL_TUNE_BENCH_OPTION_CHECKS_H_

#include "base/result.h"
#include "bench/flag_table.h"

namespace nccl_tune::bench {

// Settles what depends on several flags; mode and collective are set by then. The Error has the code kUnsupported where
// nccl-tests ends with "not implemented".
base::Status CheckFlags(Asked& asked);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_OPTION_CHECKS_H_
