// SPDX-License-Identifier: Apache-2.0
//
// Loads a backend's shared object, and asks the CUDA driver how many devices there are. Both need nothing but the
// dynamic loader. What is loaded stays loaded.
#ifndef NCCL_TUNE_BENCH_BACKEND_LOADER_H_
#define NCCL_TUNE_BENCH_BACKEND_LOADER_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// "FOLDER/libnccl_bench_mpi.so".
std::string BackendPath(const std::string& folder, BackendKind kind);

// kNotFound when the file is absent, kUnsupported with the loader's own text when it or a library of it does not load.
base::Result<std::unique_ptr<Backend>> LoadBackend(const std::string& path, const BackendSetup& setup);

// At least 1; an Error says why there is none.
base::Result<int> CountCudaDevices();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BACKEND_LOADER_H_
