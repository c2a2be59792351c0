// SPDX-License-Identifier: Apache-2.0
//
// Send and receive in a ring: each rank gives `count` elements to the next rank and gets those of the one before.
// Nothing is reduced, but the table lists the operations, as in nccl-tests.
#ifndef NCCL_TUNE_BENCH_SENDRECV_H_
#define NCCL_TUNE_BENCH_SENDRECV_H_

#include "bench/collective.h"

namespace nccl_tune::bench {

extern const Collective kSendrecv;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SENDRECV_H_
