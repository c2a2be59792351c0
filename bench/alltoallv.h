// SPDX-License-Identifier: Apache-2.0
//
// All-to-all with a part of its own size for each pair of ranks (traffic.h): rank r gets what each rank has for it, in
// the ranks' order. In place nccl-tests runs it, too, but what it gives is not defined.
#ifndef NCCL_TUNE_BENCH_ALLTOALLV_H_
#define NCCL_TUNE_BENCH_ALLTOALLV_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kAlltoallv;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ALLTOALLV_H_
