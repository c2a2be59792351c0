// SPDX-License-Identifier: Apache-2.0
//
// All-gather: each rank gives `count` elements and gets those of all ranks, in the ranks' order.
#ifndef NCCL_TUNE_BENCH_ALL_GATHER_H_
#define NCCL_TUNE_BENCH_ALL_GATHER_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kAllGather;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ALL_GATHER_H_
