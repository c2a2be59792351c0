// SPDX-License-Identifier: Apache-2.0
//
// Filling and checking buffers in GPU memory with the pattern of pattern.h, the same code as on the host. The buffers
// and the stream belong to the current device and to the caller; nothing waits. A result other than cudaSuccess: a
// kernel could not be started.
#ifndef NCCL_TUNE_BENCH_NCCL_KERNELS_H_
#define NCCL_TUNE_BENCH_NCCL_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "bench/collective.h"
#include "bench/host_data.h"

namespace nccl_tune::bench {

// What a check found; lies in memory that the GPU can write while it runs.
struct DeviceVerdict {
  unsigned long long wrong = 0;
  unsigned long long first = 0;  // offset in the result of the first wrong element, when there is one
};

// Starts writing what `key.rank` sends: `count` elements.
cudaError_t LaunchFill(const DataKey& key, std::uint64_t count, void* data, cudaStream_t stream);

// Starts comparing `data` with what it must be, one kernel for each stretch; `verdict` is reset first. The stretches
// lie in host memory and are not needed after the call.
cudaError_t LaunchCheck(const DataKey& key, std::span<const Stretch> stretches, const void* data,
                        DeviceVerdict* verdict, cudaStream_t stream);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_KERNELS_H_
