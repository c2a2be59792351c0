// SPDX-License-Identifier: Apache-2.0
//
// NCCL, loaded at run time: the job's own library is measured, and nccl-bench starts without one. Types come from
// nccl.h at compile time, functions by name; what only newer releases have may be null, and its type stands here so
// that older headers serve too.
//
// Ownership: the library stays loaded until the process ends.
#ifndef NCCL_TUNE_BENCH_NCCL_LIBRARY_H_
#define NCCL_TUNE_BENCH_NCCL_LIBRARY_H_

#include <nccl.h>

#include <cstddef>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::bench {

struct NcclLibrary {
  decltype(&::ncclGetVersion) GetVersion = nullptr;
  decltype(&::ncclGetUniqueId) GetUniqueId = nullptr;
  decltype(&::ncclCommInitRankConfig) CommInitRankConfig = nullptr;
  decltype(&::ncclCommDestroy) CommDestroy = nullptr;
  decltype(&::ncclCommAbort) CommAbort = nullptr;
  decltype(&::ncclCommGetAsyncError) CommGetAsyncError = nullptr;
  decltype(&::ncclGroupStart) GroupStart = nullptr;
  decltype(&::ncclGroupEnd) GroupEnd = nullptr;
  decltype(&::ncclGetErrorString) GetErrorString = nullptr;
  decltype(&::ncclGetLastError) GetLastError = nullptr;
  decltype(&::ncclAllReduce) AllReduce = nullptr;
  decltype(&::ncclAllGather) AllGather = nullptr;
  decltype(&::ncclBroadcast) Broadcast = nullptr;
  decltype(&::ncclReduce) Reduce = nullptr;
  decltype(&::ncclReduceScatter) ReduceScatter = nullptr;
  decltype(&::ncclSend) Send = nullptr;
  decltype(&::ncclRecv) Recv = nullptr;
  decltype(&::ncclRedOpCreatePreMulSum) RedOpCreatePreMulSum = nullptr;
  decltype(&::ncclRedOpDestroy) RedOpDestroy = nullptr;

  using Alloc = ncclResult_t (*)(void**, std::size_t);
  using Free = ncclResult_t (*)(void*);
  using Register = ncclResult_t (*)(ncclComm_t, void*, std::size_t, void**);
  using Deregister = ncclResult_t (*)(ncclComm_t, void*);
  using WindowRegister = ncclResult_t (*)(ncclComm_t, void*, std::size_t, void** window, int flags);
  using Exchange = ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
  using Rooted = ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t, int root, ncclComm_t, cudaStream_t);
  Alloc MemAlloc = nullptr;                     // 2.19
  Free MemFree = nullptr;                       // 2.19
  Register CommRegister = nullptr;              // 2.19
  Deregister CommDeregister = nullptr;          // 2.19
  WindowRegister CommWindowRegister = nullptr;  // 2.27
  Deregister CommWindowDeregister = nullptr;    // 2.27
  Exchange AlltoAll = nullptr;                  // 2.28
  Rooted Gather = nullptr;                      // 2.28
  Rooted Scatter = nullptr;                     // 2.28
  void* handle = nullptr;                       // for what only one file needs

  int version = 0;     // 22809
  std::string path{};  // as the loader resolved it
  std::string how{};   // "NCCL_BENCH_NCCL_LIB", or "as the loader finds libnccl.so.2"
};

// From the file in NCCL_BENCH_NCCL_LIB, else libnccl.so.2 wherever the loader finds it. Fails with the loader's text,
// or with the name of a function that the library lacks.
base::Result<NcclLibrary> LoadNccl(const base::Environment& environment);

// NCCL_VERSION_CODE's number for 2.9 and later: Version(2, 28, 9) is 22809.
constexpr int Version(int major, int minor, int patch = 0) { return major * 10'000 + minor * 100 + patch; }

// "2.28.9".
std::string VersionText(int version);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_LIBRARY_H_
