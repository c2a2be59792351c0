// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_gpu.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Status;

constexpr int kCudaFailure = 2;
constexpr int kNcclFailure = 3;

}  // namespace

Status NcclState::Cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return base::Ok();
  failure = kCudaFailure;
  return Error{.what = "'" + std::string(cudaGetErrorString(status)) + "'", .where = call};
}

Status NcclState::Nccl(ncclResult_t status, const char* call) {
  if (status == ncclSuccess) return base::Ok();
  failure = kNcclFailure;
  return Error{.what = "'" + std::string(library.GetErrorString(status)) + " / " + library.GetLastError(nullptr) + "'",
               .where = call,
               .hint = "NCCL_DEBUG=WARN tells more."};
}

}  // namespace nccl_tune::bench
