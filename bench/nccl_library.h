// SPDX-License-Identifier: Apache-2.0
//
// NCCL, loaded at run time: the job's own library is measured, and nccl-bench starts without one. Types come from
// nccl.h at compile time, functions by name.
//
// Ownership: the library stays loaded until the process ends.
#ifndef NCCL_TUNE_BENCH_NCCL_LIBRARY_H_
#define NCCL_TUNE_BENCH_NCCL_LIBRARY_H_

#include <nccl.h>

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
  decltype(&::ncclAllReduce) AllReduce = nullptr;
  decltype(&::ncclGroupStart) GroupStart = nullptr;
  decltype(&::ncclGroupEnd) GroupEnd = nullptr;
  decltype(&::ncclGetErrorString) GetErrorString = nullptr;
  decltype(&::ncclGetLastError) GetLastError = nullptr;
  int version = 0;     // 22809
  std::string path{};  // as the loader resolved it
};

// From the file in NCCL_BENCH_NCCL_LIB, else libnccl.so.2 wherever the loader finds it. Fails with the loader's text,
// or with the name of a function that the library lacks.
base::Result<NcclLibrary> LoadNccl(const base::Environment& environment);

// "2.28.9".
std::string VersionText(int version);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_LIBRARY_H_
