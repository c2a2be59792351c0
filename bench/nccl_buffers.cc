// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/nccl_process.h"

namespace nccl_tune::bench {
namespace {

using base::Status;

constexpr std::uint64_t kLargestElement = 8;  // -u shifts by elements of any type

Status Allocate(NcclProcess& process, Gpu& gpu, std::uint64_t bytes) {
  NcclState& nccl = process.shared.nccl;
  const std::uint64_t whole = std::max<std::uint64_t>(bytes, 1) + kLargestElement * process.setup.options.unaligned;
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
  for (char** const buffer : {&gpu.send, &gpu.receive}) {
    void* memory = nullptr;
    if (nccl.library.MemAlloc != nullptr) {
      NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.MemAlloc(&memory, whole), "ncclMemAlloc"));
    } else {
      NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaMalloc(&memory, whole), "cudaMalloc"));
    }
    *buffer = static_cast<char*>(memory);
  }
  return base::Ok();
}

Status RegisterOne(NcclProcess& process, const Gpu& gpu, char* buffer, std::uint64_t bytes, void** handle) {
  constexpr int kCollectiveSymmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC
  NcclState& nccl = process.shared.nccl;
  if (process.setup.options.registration == Registration::kSymmetric) {
    return nccl.Nccl(nccl.library.CommWindowRegister(gpu.communicator, buffer, bytes, handle, kCollectiveSymmetric),
                     "ncclCommWindowRegister");
  }
  return nccl.Nccl(nccl.library.CommRegister(gpu.communicator, buffer, bytes, handle), "ncclCommRegister");
}

Status ReleaseGpu(NcclProcess& process, Gpu& gpu) {
  NcclState& nccl = process.shared.nccl;
  const bool symmetric = process.setup.options.registration == Registration::kSymmetric;
  for (void** const handle : {&gpu.send_handle, &gpu.receive_handle}) {
    if (*handle == nullptr) continue;
    const auto undo = symmetric ? nccl.library.CommWindowDeregister : nccl.library.CommDeregister;
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(undo(gpu.communicator, *handle), "the end of the registration (-R)"));
    *handle = nullptr;
  }
  for (ncclComm_t* const communicator : {&gpu.communicator, &gpu.world}) {
    if (*communicator == nullptr || (communicator == &gpu.communicator && gpu.communicator == gpu.world)) continue;
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.CommDestroy(*communicator), "ncclCommDestroy"));
    *communicator = nullptr;
  }
  return base::Ok();
}

}  // namespace

Status AllocateBuffers(NcclProcess& process, std::uint64_t bytes) {
  for (Gpu& gpu : process.gpus) NCCL_TUNE_RETURN_IF_ERROR(Allocate(process, gpu, bytes));
  return base::Ok();
}

Status RegisterBuffers(NcclProcess& process, std::uint64_t bytes) {
  if (process.setup.options.registration == Registration::kNone) return base::Ok();
  NcclState& nccl = process.shared.nccl;
  const std::uint64_t whole = std::max<std::uint64_t>(bytes, 1) + kLargestElement * process.setup.options.unaligned;
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupStart(), "ncclGroupStart"));
  for (Gpu& gpu : process.gpus) {
    NCCL_TUNE_RETURN_IF_ERROR(RegisterOne(process, gpu, gpu.send, whole, &gpu.send_handle));
    NCCL_TUNE_RETURN_IF_ERROR(RegisterOne(process, gpu, gpu.receive, whole, &gpu.receive_handle));
  }
  return nccl.Nccl(nccl.library.GroupEnd(), "the registration of buffers (-R)");
}

Status ReleaseAll(NcclProcess& process) {
  for (Gpu& gpu : process.gpus) NCCL_TUNE_RETURN_IF_ERROR(ReleaseGpu(process, gpu));
  return base::Ok();
}

}  // namespace nccl_tune::bench
