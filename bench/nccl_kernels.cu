// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/nccl_kernels.h"
#include "bench/number.h"
#include "bench/pattern.h"
#include "bench/types.h"

namespace nccl_tune::bench {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 4096;  // each thread strides over the rest
constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

__device__ std::uint64_t FirstIndex() { return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::uint64_t Stride() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

template <typename T>
__global__ void Fill(Pattern<T> pattern, std::uint64_t rank, std::uint64_t count, T* data) {
  for (std::uint64_t i = FirstIndex(); i < count; i += Stride()) data[i] = pattern.Value(rank, i);
}

__global__ void Reset(DeviceVerdict* verdict) { *verdict = {0, ~0ULL}; }

// What one thread found.
struct Found {
  unsigned long long wrong = 0;
  unsigned long long first = ~0ULL;

  __device__ void Add(std::uint64_t offset) {
    if (wrong++ == 0) first = offset;
  }
};

// Once per warp at most, or a result that is wrong everywhere would wait for its own atomics. All threads call it.
__device__ void Report(Found found, DeviceVerdict* verdict) {
  for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    found.wrong += __shfl_down_sync(kAllLanes, found.wrong, lanes);
    const unsigned long long other = __shfl_down_sync(kAllLanes, found.first, lanes);
    found.first = other < found.first ? other : found.first;
  }
  if (threadIdx.x % kWarp != 0 || found.wrong == 0) return;
  atomicAdd(&verdict->wrong, found.wrong);
  atomicMin(&verdict->first, found.first);
}

// `data` is where the stretch begins, in all three.
template <typename T>
__global__ void CheckZero(Stretch stretch, const T* data, DeviceVerdict* verdict) {
  Found found;
  for (std::uint64_t i = FirstIndex(); i < stretch.count; i += Stride()) {
    if (ToBits(data[i]) != 0) found.Add(stretch.begin + i);
  }
  Report(found, verdict);
}

template <typename T>
__global__ void CheckReduced(Pattern<T> pattern, Stretch stretch, const T* data, DeviceVerdict* verdict) {
  Found found;
  for (std::uint64_t i = FirstIndex(); i < stretch.count; i += Stride()) {
    if (!pattern.Accepts(stretch.offset + i, data[i])) found.Add(stretch.begin + i);
  }
  Report(found, verdict);
}

template <typename T>
__global__ void CheckCopied(Pattern<T> pattern, Stretch stretch, const T* data, DeviceVerdict* verdict) {
  Found found;
  // Piece and place in it of element i, carried along: a division for each element would cost more than the rest.
  const std::uint64_t pieces = Stride() / stretch.each;
  const std::uint64_t places = Stride() % stretch.each;
  std::uint64_t piece = FirstIndex() / stretch.each;
  std::uint64_t place = FirstIndex() % stretch.each;
  for (std::uint64_t i = FirstIndex(); i < stretch.count; i += Stride()) {
    const T expected = pattern.Value(stretch.rank + piece * stretch.rank_step, stretch.offset + place);
    if (ToBits(data[i]) != ToBits(expected)) found.Add(stretch.begin + i);
    piece += pieces;
    place += places;
    if (place >= stretch.each) {
      place -= stretch.each;
      ++piece;
    }
  }
  Report(found, verdict);
}

unsigned Blocks(std::uint64_t count) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks));
}

template <typename T>
void LaunchStretch(const Pattern<T>& pattern, const Stretch& stretch, const T* data, DeviceVerdict* verdict,
                   cudaStream_t stream) {
  const unsigned blocks = Blocks(stretch.count);
  switch (stretch.kind) {
    case Stretch::Kind::kZero:
      CheckZero<T><<<blocks, kThreads, 0, stream>>>(stretch, data, verdict);
      return;
    case Stretch::Kind::kReduced:
      CheckReduced<T><<<blocks, kThreads, 0, stream>>>(pattern, stretch, data, verdict);
      return;
    case Stretch::Kind::kCopied:
      CheckCopied<T><<<blocks, kThreads, 0, stream>>>(pattern, stretch, data, verdict);
      return;
  }
}

}  // namespace

cudaError_t LaunchFill(const DataKey& key, std::uint64_t count, void* data, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks, key.reduces);
    Fill<T><<<Blocks(count), kThreads, 0, stream>>>(pattern, key.rank, count, static_cast<T*>(data));
  });
  return cudaGetLastError();
}

cudaError_t LaunchCheck(const DataKey& key, std::span<const Stretch> stretches, const void* data,
                        DeviceVerdict* verdict, cudaStream_t stream) {
  Reset<<<1, 1, 0, stream>>>(verdict);
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks, key.reduces);
    for (const Stretch& stretch : stretches) {
      if (stretch.count == 0) continue;
      LaunchStretch<T>(pattern, stretch, static_cast<const T*>(data) + stretch.begin, verdict, stream);
    }
  });
  return cudaGetLastError();
}

}  // namespace nccl_tune::bench
