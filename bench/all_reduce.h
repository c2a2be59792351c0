// SPDX-License-Identifier: Apache-2.0
//
// All-reduce: each rank gives `count` elements and gets the reduction of all ranks'.
#ifndef NCCL_TUNE_BENCH_ALL_REDUCE_H_
#define NCCL_TUNE_BENCH_ALL_REDUCE_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kAllReduce;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ALL_REDUCE_H_
