// SPDX-License-Identifier: Apache-2.0
#include "bench/nccl_library.h"

#include <dlfcn.h>

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;

class Functions {
 public:
  explicit Functions(void* library) : library_(library) {}

  template <typename Function>
  void Find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void FindNeeded(NcclLibrary& library, Functions& functions) {
  functions.Find(library.GetVersion, "ncclGetVersion");
  functions.Find(library.GetUniqueId, "ncclGetUniqueId");
  functions.Find(library.CommInitRankConfig, "ncclCommInitRankConfig");
  functions.Find(library.CommDestroy, "ncclCommDestroy");
  functions.Find(library.CommAbort, "ncclCommAbort");
  functions.Find(library.CommGetAsyncError, "ncclCommGetAsyncError");
  functions.Find(library.GroupStart, "ncclGroupStart");
  functions.Find(library.GroupEnd, "ncclGroupEnd");
  functions.Find(library.GetErrorString, "ncclGetErrorString");
  functions.Find(library.GetLastError, "ncclGetLastError");
  functions.Find(library.AllReduce, "ncclAllReduce");
  functions.Find(library.AllGather, "ncclAllGather");
  functions.Find(library.Broadcast, "ncclBroadcast");
  functions.Find(library.Reduce, "ncclReduce");
  functions.Find(library.ReduceScatter, "ncclReduceScatter");
  functions.Find(library.Send, "ncclSend");
  functions.Find(library.Recv, "ncclRecv");
  functions.Find(library.RedOpCreatePreMulSum, "ncclRedOpCreatePreMulSum");
  functions.Find(library.RedOpDestroy, "ncclRedOpDestroy");
}

void FindOptional(NcclLibrary& library, Functions& functions) {
  functions.Find(library.MemAlloc, "ncclMemAlloc");
  functions.Find(library.MemFree, "ncclMemFree");
  functions.Find(library.CommRegister, "ncclCommRegister");
  functions.Find(library.CommDeregister, "ncclCommDeregister");
  functions.Find(library.CommWindowRegister, "ncclCommWindowRegister");
  functions.Find(library.CommWindowDeregister, "ncclCommWindowDeregister");
  functions.Find(library.AlltoAll, "ncclAlltoAll");
  functions.Find(library.Gather, "ncclGather");
  functions.Find(library.Scatter, "ncclScatter");
}

std::string PathOf(const void* symbol, const std::string& asked) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : asked;
}

}  // namespace

base::Result<NcclLibrary> LoadNccl(const base::Environment& environment) {
  const std::string forced = base::Lookup(environment, "NCCL_BENCH_NCCL_LIB").value_or("");
  const std::string name = forced.empty() ? "libnccl.so.2" : forced;
  void* const loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* const text = dlerror();
    return Error{.code = Code::kNotFound,
                 .what = "NCCL does not load: " + std::string(text != nullptr ? text : "no reason given"),
                 .hint = "Set LD_LIBRARY_PATH, or NCCL_BENCH_NCCL_LIB to the file."};
  }
  NcclLibrary library{.handle = loaded, .how = forced.empty() ? "as the loader finds " + name : "NCCL_BENCH_NCCL_LIB"};
  Functions functions(loaded);
  FindNeeded(library, functions);
  if (!functions.missing().empty()) {
    return Error{.code = Code::kUnsupported,
                 .what = "this NCCL is too old: it lacks " + functions.missing(),
                 .where = name,
                 .hint = "NCCL 2.14 or newer is needed."};
  }
  FindOptional(library, functions);
  if (library.GetVersion(&library.version) != ncclSuccess) {
    return Error{.code = Code::kUnsupported, .what = "ncclGetVersion fails", .where = name};
  }
  library.path = PathOf(reinterpret_cast<const void*>(library.GetVersion), name);
  return library;
}

std::string VersionText(int version) {
  // 2.9 and later count by 10,000, earlier ones by 1,000.
  const int unit = version >= 10'000 ? 10'000 : 1'000;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace nccl_tune::bench
