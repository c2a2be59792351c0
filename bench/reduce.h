// SPDX-License-Identifier: Apache-2.0
//
// Reduce: each rank gives `count` elements and the root gets their reduction.
#ifndef NCCL_TUNE_BENCH_REDUCE_H_
#define NCCL_TUNE_BENCH_REDUCE_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kReduce;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_REDUCE_H_
