// SPDX-License-Identifier: Apache-2.0
//
// One GPU of a process and what lies on it, and how calls to CUDA and NCCL become errors.
//
// Threads: a GPU belongs to one worker; while all workers of a process meet, one thread uses all GPUs. Ownership: what
// lies on a GPU is freed with the process: CUDA and NCCL clean up, and a run that broke may not be able to.
#ifndef NCCL_TUNE_BENCH_NCCL_GPU_H_
#define NCCL_TUNE_BENCH_NCCL_GPU_H_

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/device_calls.h"
#include "bench/nccl_kernels.h"
#include "bench/nccl_library.h"

namespace nccl_tune::bench {

struct Gpu {
  std::uint64_t world_rank = 0;  // over all groups
  std::uint64_t rank = 0;        // in the group
  int index = 0;
  cudaDeviceProp properties{};
  cudaStream_t stream = nullptr;
  ncclComm_t communicator = nullptr;  // of the group
  ncclComm_t world = nullptr;         // of all ranks; the same where there is one group
  char* send = nullptr;
  char* receive = nullptr;
  void* send_handle = nullptr;  // of -R
  void* receive_handle = nullptr;
  double* numbers = nullptr;  // for what the processes tell each other
  std::uint64_t numbers_size = 0;
  DeviceVerdict* verdict = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t graph_instance = nullptr;
  std::vector<cudaEvent_t> marks{};
  DeviceCommunicator* device = nullptr;  // of -D
};

// NCCL and what went wrong with it, shared by the workers of a process.
struct NcclState {
  NcclLibrary library{};
  std::atomic<int> failure = 1;  // exit status of nccl-tests for the last error

  base::Status Cuda(cudaError_t status, const char* call);
  base::Status Nccl(ncclResult_t status, const char* call);
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_GPU_H_
