// SPDX-License-Identifier: Apache-2.0
//
// Gather: each rank gives `count` elements and the root gets them, in the ranks' order.
#ifndef NCCL_TUNE_BENCH_GATHER_H_
#define NCCL_TUNE_BENCH_GATHER_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kGather;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_GATHER_H_
