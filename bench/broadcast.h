// SPDX-License-Identifier: Apache-2.0
//
// Broadcast: each rank gets the `count` elements that the root gives.
#ifndef NCCL_TUNE_BENCH_BROADCAST_H_
#define NCCL_TUNE_BENCH_BROADCAST_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kBroadcast;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BROADCAST_H_
