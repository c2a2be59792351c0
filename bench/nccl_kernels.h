// SPDX-License-Identifier: Apache-2.0
//
// Filling and checking buffers in GPU memory with the pattern of pattern.h, the same code as on the host.
#ifndef NCCL_TUNE_BENCH_NCCL_KERNELS_H_
#define NCCL_TUNE_BENCH_NCCL_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "bench/host_data.h"

namespace nccl_tune::bench {

// What a check found; lies in GPU memory while it runs.
struct DeviceVerdict {
  unsigned long long wrong = 0;
  unsigned long long first = 0;  // offset of the first wrong element, when there is one
};

// Starts writing what `key.rank` sends. The buffer belongs to the current device.
cudaError_t LaunchFill(const DataKey& key, std::uint64_t count, void* data, cudaStream_t stream);

// Starts comparing `data` with the reduction over all ranks; `verdict` is reset first.
cudaError_t LaunchCheck(const DataKey& key, std::uint64_t count, const void* data, DeviceVerdict* verdict,
                        cudaStream_t stream);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_KERNELS_H_
