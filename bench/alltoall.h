// SPDX-License-Identifier: Apache-2.0
//
// All-to-all: each rank gives `count` elements for each rank; rank r gets the r-th part of each. In place nccl-tests
// runs it, too, but NCCL does not say what it must give.
#ifndef NCCL_TUNE_BENCH_ALLTOALL_H_
#define NCCL_TUNE_BENCH_ALLTOALL_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kAlltoall;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ALLTOALL_H_
