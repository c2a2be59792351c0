// SPDX-License-Identifier: Apache-2.0
#include "bench/backend_loader.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;

std::string LoaderText() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given";
}

}  // namespace

std::string BackendPath(const std::string& folder, BackendKind kind) {
  return folder + (kind == BackendKind::kNccl ? "/libnccl_bench_nccl.so" : "/libnccl_bench_mpi.so");
}

Result<std::unique_ptr<Backend>> LoadBackend(const std::string& path, const BackendSetup& setup) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{.code = Code::kNotFound, .what = "not there", .where = path};
  }
  // Global: Open MPI's own plugins look for its symbols in the program's scope, and a backend exports one name only.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return Error{.code = Code::kUnsupported, .what = LoaderText(), .where = path};
  const auto make = reinterpret_cast<MakeBackend>(dlsym(library, kBackendEntry));
  if (make == nullptr) {
    return Error{.code = Code::kUnsupported, .what = "is of another version of nccl-bench", .where = path};
  }
  return std::unique_ptr<Backend>(make(setup));
}

Result<int> CountCudaDevices() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    return Error{.code = Code::kNotFound, .what = "no NVIDIA driver is installed: " + LoaderText()};
  }
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  if (init == nullptr || count_devices == nullptr) {
    return Error{.code = Code::kUnsupported, .what = "lacks cuInit or cuDeviceGetCount", .where = "libcuda.so.1"};
  }
  int status = init(0);
  int count = 0;
  if (status == 0) status = count_devices(&count);
  constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
  if (status != 0 && status != kNoDevice) {
    return Error{.code = Code::kUnsupported,
                 .what = "the NVIDIA driver fails with CUDA error " + std::to_string(status)};
  }
  if (count < 1) return Error{.code = Code::kNotFound, .what = "the NVIDIA driver sees no GPU"};
  return count;
}

}  // namespace nccl_tune::bench
