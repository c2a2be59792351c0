// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/nccl_kernels.h"
#include "bench/pattern.h"
#include "bench/types.h"

namespace nccl_tune::bench {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 4096;  // each thread strides over the rest

__device__ std::uint64_t FirstIndex() { return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::uint64_t Stride() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

template <typename T>
__global__ void Fill(Pattern<T> pattern, std::uint64_t rank, std::uint64_t count, T* data) {
  for (std::uint64_t i = FirstIndex(); i < count; i += Stride()) data[i] = pattern.Value(rank, i);
}

__global__ void Reset(DeviceVerdict* verdict) { *verdict = {0, ~0ULL}; }

template <typename T>
__global__ void Check(Pattern<T> pattern, std::uint64_t count, const T* data, DeviceVerdict* verdict) {
  for (std::uint64_t i = FirstIndex(); i < count; i += Stride()) {
    if (pattern.Accepts(i, data[i])) continue;
    atomicAdd(&verdict->wrong, 1ULL);
    atomicMin(&verdict->first, static_cast<unsigned long long>(i));
  }
}

unsigned Blocks(std::uint64_t count) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks));
}

}  // namespace

cudaError_t LaunchFill(const DataKey& key, std::uint64_t count, void* data, cudaStream_t stream) {
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks);
    Fill<T><<<Blocks(count), kThreads, 0, stream>>>(pattern, key.rank, count, static_cast<T*>(data));
  });
  return cudaGetLastError();
}

cudaError_t LaunchCheck(const DataKey& key, std::uint64_t count, const void* data, DeviceVerdict* verdict,
                        cudaStream_t stream) {
  Reset<<<1, 1, 0, stream>>>(verdict);
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks);
    Check<T><<<Blocks(count), kThreads, 0, stream>>>(pattern, count, static_cast<const T*>(data), verdict);
  });
  return cudaGetLastError();
}

}  // namespace nccl_tune::bench
