// SPDX-License-Identifier: Apache-2.0
//
// Scatter: the root gives `count` elements for each rank; rank r gets the r-th part.
#ifndef NCCL_TUNE_BENCH_SCATTER_H_
#define NCCL_TUNE_BENCH_SCATTER_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kScatter;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SCATTER_H_
