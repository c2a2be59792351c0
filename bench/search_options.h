// SPDX-License-Identifier: Apache-2.0
//
// What of the command line a search for slow nodes can do: one number for each group, all groups at the same time.
// Pure.
#ifndef NCCL_TUNE_BENCH_SEARCH_OPTIONS_H_
#define NCCL_TUNE_BENCH_SEARCH_OPTIONS_H_

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// Refuses what has no meaning in a search; adds a warning for what is left aside, and sets `options` to how each block
// is measured. Does nothing in other modes.
base::Status SettleSearch(Options& options);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_OPTIONS_H_
