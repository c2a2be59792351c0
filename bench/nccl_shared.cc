// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_shared.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kTimeoutFailure = 4;

ncclRedOp_t OpOf(Combine how) {
  switch (how) {
    case Combine::kMin:
      return ncclMin;
    case Combine::kMax:
      return ncclMax;
    case Combine::kSum:
      break;
  }
  return ncclSum;
}

}  // namespace

// Polls, as nccl-tests does: the time until the host notices is part of what both report.
Status NcclShared::Wait(std::span<Gpu> waited) {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::seconds limit(options->timeout_seconds);
  for (Gpu& gpu : waited) {
    while (true) {
      const cudaError_t status = cudaStreamQuery(gpu.stream);
      if (status == cudaSuccess) break;
      if (status != cudaErrorNotReady) return nccl.Cuda(status, "cudaStreamQuery");
      ncclResult_t failed = ncclSuccess;
      NCCL_TUNE_RETURN_IF_ERROR(
          nccl.Nccl(nccl.library.CommGetAsyncError(gpu.communicator, &failed), "ncclCommGetAsyncError"));
      if (failed != ncclSuccess && failed != ncclInProgress) return nccl.Nccl(failed, "a collective");
      if (limit.count() > 0 && std::chrono::steady_clock::now() - start > limit) {
        nccl.failure = kTimeoutFailure;
        return Error{.code = Code::kTimeout,
                     .what = "a collective has not ended after " + std::to_string(limit.count()) + " s (-T)"};
      }
      std::this_thread::yield();
    }
  }
  return base::Ok();
}

Status NcclShared::Reserve(Gpu& gpu, std::uint64_t count) {
  if (gpu.numbers_size >= count) return base::Ok();
  if (gpu.numbers != nullptr) NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaFree(gpu.numbers), "cudaFree"));
  gpu.numbers = nullptr;
  gpu.numbers_size = 0;
  void* memory = nullptr;
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaMalloc(&memory, count * sizeof(double)), "cudaMalloc"));
  gpu.numbers = static_cast<double*>(memory);
  gpu.numbers_size = count;
  return base::Ok();
}

Result<std::vector<double>> NcclShared::Reduce(const std::vector<double>& values, Combine how) {
  if (processes == 1 || values.empty()) return values;
  const std::vector<double> nothing(values.size(), 0.0);
  const std::size_t bytes = values.size() * sizeof(double);
  for (Gpu& gpu : gpus) {
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    NCCL_TUNE_RETURN_IF_ERROR(Reserve(gpu, values.size()));
    // A process's first GPU brings the values, its others bring what changes nothing.
    const bool neutral = how == Combine::kSum && &gpu != &gpus.front();
    const double* const from = neutral ? nothing.data() : values.data();
    NCCL_TUNE_RETURN_IF_ERROR(
        nccl.Cuda(cudaMemcpyAsync(gpu.numbers, from, bytes, cudaMemcpyHostToDevice, gpu.stream), "cudaMemcpyAsync"));
  }
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupStart(), "ncclGroupStart"));
  for (Gpu& gpu : gpus) {
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(
        nccl.library.AllReduce(gpu.numbers, gpu.numbers, values.size(), ncclFloat64, OpOf(how), gpu.world, gpu.stream),
        "ncclAllReduce"));
  }
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupEnd(), "ncclGroupEnd"));
  std::vector<double> result(values.size());
  Gpu& first = gpus.front();
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(
      cudaMemcpyAsync(result.data(), first.numbers, bytes, cudaMemcpyDeviceToHost, first.stream), "cudaMemcpyAsync"));
  NCCL_TUNE_RETURN_IF_ERROR(Wait(gpus));
  return result;
}

Result<std::vector<double>> NcclShared::AllGather(const std::vector<double>& values) {
  if (processes == 1 || values.empty()) return values;
  const std::uint64_t count = values.size();
  const std::uint64_t world = processes * gpus.size();
  const std::size_t bytes = count * sizeof(double);
  for (Gpu& gpu : gpus) {
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    NCCL_TUNE_RETURN_IF_ERROR(Reserve(gpu, count * world));
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(
        cudaMemcpyAsync(gpu.numbers + gpu.world_rank * count, values.data(), bytes, cudaMemcpyHostToDevice, gpu.stream),
        "cudaMemcpyAsync"));
  }
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupStart(), "ncclGroupStart"));
  for (Gpu& gpu : gpus) {
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.AllGather(gpu.numbers + gpu.world_rank * count, gpu.numbers, count,
                                                               ncclFloat64, gpu.world, gpu.stream),
                                        "ncclAllGather"));
  }
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupEnd(), "ncclGroupEnd"));
  std::vector<double> all(count * world);
  Gpu& first = gpus.front();
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(
      cudaMemcpyAsync(all.data(), first.numbers, all.size() * sizeof(double), cudaMemcpyDeviceToHost, first.stream),
      "cudaMemcpyAsync"));
  NCCL_TUNE_RETURN_IF_ERROR(Wait(gpus));
  std::vector<double> one_each;
  for (std::uint64_t process_number = 0; process_number < processes; ++process_number) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(process_number * gpus.size() * count);
    one_each.insert(one_each.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return one_each;
}

}  // namespace nccl_tune::bench
