// SPDX-License-Identifier: Apache-2.0
#include "pmix/abort_step.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <string>

#include "pmix/step.h"

namespace nccl_tune::pmix {
namespace {

using base::Code;
using base::Error;
using base::Status;

// PMIx_Init and PMIx_Abort of the PMIx standard 3.0 and later. A pmix_proc_t is a name of 256 bytes and a number.
using Init = int (*)(void* process, void* info, std::size_t count);
using Abort = int (*)(int status, const char* text, void* processes, std::size_t count);
constexpr int kSuccess = 0;

struct Process {
  alignas(8) std::array<std::byte, 512> bytes{};
};

Error Failed(const std::string& call, int status) {
  return {.code = Code::kInternal, .what = "status " + std::to_string(status), .where = call};
}

}  // namespace

Status AbortStep(const base::Environment& environment, int code) {
  NCCL_TUNE_ASSIGN_OR_RETURN(step, ReadStep(environment));
  if (CheckPmix(environment, step ? &*step : nullptr).state != PmixState::kUsable) {
    return Error{.code = Code::kNotFound, .what = "no PMIx server of this step"};
  }
  void* const library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error{.code = Code::kNotFound, .what = "does not load", .where = "libpmix.so.2"};
  const auto init = reinterpret_cast<Init>(dlsym(library, "PMIx_Init"));
  const auto end_all = reinterpret_cast<Abort>(dlsym(library, "PMIx_Abort"));
  if (init == nullptr || end_all == nullptr) {
    return Error{.code = Code::kNotFound, .what = "lacks PMIx_Init or PMIx_Abort", .where = "libpmix.so.2"};
  }
  Process self;
  if (const int status = init(&self, nullptr, 0); status != kSuccess) return Failed("PMIx_Init", status);
  if (const int status = end_all(code, "", nullptr, 0); status != kSuccess) return Failed("PMIx_Abort", status);
  return base::Ok();
}

}  // namespace nccl_tune::pmix
