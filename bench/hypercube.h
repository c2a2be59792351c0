// SPDX-License-Identifier: Apache-2.0
//
// All-gather over the edges of a hypercube: in step k each rank exchanges what it has so far with rank XOR 2^k. The
// number of ranks must be a power of 2.
#ifndef NCCL_TUNE_BENCH_HYPERCUBE_H_
#define NCCL_TUNE_BENCH_HYPERCUBE_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kHypercube;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_HYPERCUBE_H_
