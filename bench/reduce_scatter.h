// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter: each rank gives `count` elements for each rank; rank r gets the reduction of all ranks' r-th part.
#ifndef NCCL_TUNE_BENCH_REDUCE_SCATTER_H_
#define NCCL_TUNE_BENCH_REDUCE_SCATTER_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kReduceScatter;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_REDUCE_SCATTER_H_
