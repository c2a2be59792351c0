// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench looks up in the shared object (kBackendEntry).
#include "bench/mpi_backend.h"

extern "C" nccl_tune::bench::Backend* nccl_bench_make_backend_2(const nccl_tune::bench::BackendSetup& setup) {
  return new nccl_tune::bench::MpiBackend(setup);
}
