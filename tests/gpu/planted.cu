// SPDX-License-Identifier: Apache-2.0
//
// Faults on purpose, so that sanitize.sh can show that its filter looks at our kernels and at no others: a write behind
// an allocation and a race in shared memory, once in our namespace and once in another.
//
//   planted ours|other
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

namespace nccl_tune::bench {
namespace {
__global__ void Planted(int* data) {
  __shared__ int shared[64];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  data[threadIdx.x] = shared[63 - threadIdx.x];
}
}  // namespace
void StartOurs(int* data) { Planted<<<1, 64>>>(data); }
}  // namespace nccl_tune::bench

namespace other {
namespace {
__global__ void Planted(int* data) {
  __shared__ int shared[64];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  data[threadIdx.x] = shared[63 - threadIdx.x];
}
}  // namespace
void Start(int* data) { Planted<<<1, 64>>>(data); }
}  // namespace other

int main(int count, char** words) {
  int* data = nullptr;
  // The last element is not there.
  if (cudaMalloc(&data, 63 * sizeof(int)) != cudaSuccess) return 2;
  if (count == 2 && std::strcmp(words[1], "ours") == 0) {
    nccl_tune::bench::StartOurs(data);
  } else {
    other::Start(data);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
