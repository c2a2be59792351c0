// SPDX-License-Identifier: Apache-2.0
//
// The backend for GPU memory, over NCCL: one rank per GPU, one or more GPUs per process. NCCL's id goes to the other
// processes over PMIx; barriers and sums over the processes are NCCL all-reduces of one number.
//
// This header has no CUDA or NCCL in it: it is also compiled where there is none.
#ifndef NCCL_TUNE_BENCH_NCCL_BACKEND_H_
#define NCCL_TUNE_BENCH_NCCL_BACKEND_H_

#include <memory>

#include "bench/backend.h"

namespace nccl_tune::bench {

std::unique_ptr<Backend> MakeNcclBackend(const BackendSetup& setup);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_BACKEND_H_
