// SPDX-License-Identifier: Apache-2.0
//
// The collectives in NCCL's calls. Where a release has no function for one, NCCL's own recipe of ncclSend and ncclRecv
// in a group stands in, as in nccl-tests.
//
// Threads: any, for different GPUs.
#ifndef NCCL_TUNE_BENCH_NCCL_CALLS_H_
#define NCCL_TUNE_BENCH_NCCL_CALLS_H_

#include <cstdint>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/nccl_gpu.h"
#include "bench/types.h"

namespace nccl_tune::bench {

ncclDataType_t NcclTypeOf(DataType type);

// One rank's part of one call: addresses are this iteration's, in place where that was asked for.
struct NcclCall {
  const Call* call = nullptr;
  const Gpu* gpu = nullptr;
  std::uint64_t ranks = 1;
  char* send = nullptr;
  char* receive = nullptr;
};

base::Status StartCall(NcclState& nccl, const NcclCall& one);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_CALLS_H_
