// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench looks up in the NCCL backend's shared object (kBackendEntry).
#include "bench/backend.h"
#include "bench/nccl_backend.h"

extern "C" nccl_tune::bench::Backend* nccl_bench_make_backend_2(const nccl_tune::bench::BackendSetup& setup) {
  return nccl_tune::bench::MakeNcclBackend(setup).release();
}
