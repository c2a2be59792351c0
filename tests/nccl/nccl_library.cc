// SPDX-License-Identifier: Apache-2.0
#include "tests/nccl/nccl_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl_judge {
namespace {

constexpr const char* kUsual[] = {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"};

void* Load(const std::string& path, std::string* error) {
  if (!path.empty()) {
    void* library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) *error = dlerror();
    return library;
  }
  for (const char* name : kUsual) {
    if (void* library = dlopen(name, RTLD_NOW)) return library;
    if (error->empty()) *error = dlerror();
  }
  return nullptr;
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

base::Result<NcclLibrary> OpenNccl(const std::string& path) {
  std::string error;
  void* library = Load(path, &error);
  if (library == nullptr) return base::Error{.code = base::Code::kNotFound, .what = "no libnccl.so.2", .where = error};
  NcclLibrary out;
  int code = 0;
  if (!Find(library, "ncclGetVersion", &out.get_version) || !Find(library, "ncclGetUniqueId", &out.get_unique_id) ||
      !Find(library, "ncclCommInitRank", &out.init_rank) || out.get_version(&code) != 0) {
    return base::Error{.code = base::Code::kInvalidInput, .what = "this library is no NCCL", .where = path};
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(version, nccl::NcclVersionFromCode(code));
  out.version = version.ToString();
  return out;
}

base::Result<Log> Log::Open() {
  const int fd = memfd_create("nccl-log", 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (fd < 0 || setenv("NCCL_DEBUG", "INFO", 1) != 0 || setenv("NCCL_DEBUG_SUBSYS", "INIT,NET,BOOTSTRAP,ENV", 1) != 0 ||
      setenv("NCCL_DEBUG_FILE", path.c_str(), 1) != 0) {
    return base::Error{.code = base::Code::kInternal, .what = "cannot keep NCCL's log"};
  }
  return Log(fd);
}

std::string Log::Text() const {
  std::string out;
  std::array<char, 4096> part;
  for (off_t at = 0;;) {
    const ssize_t got = pread(fd_, part.data(), part.size(), at);
    if (got <= 0) return out;
    out.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

std::string FindAfter(const std::string& log, const std::string& mark) {
  const auto at = log.find(mark);
  if (at == std::string::npos) return "";
  return log.substr(at, log.find('\n', at) - at);
}

std::string TakenInterface(const std::string& log) {
  // "Bootstrap : Using" up to 2.26.
  std::string line = FindAfter(log, "Bootstrap: Using ");
  if (line.empty()) line = FindAfter(log, "Bootstrap : Using ");
  const auto start = line.find("Using ") + 6;
  const auto colon = line.find(':', start);
  const auto end = line.find_first_of("%<", start);
  if (line.empty() || colon == std::string::npos || end == std::string::npos || end < colon) return "";
  return line.substr(start, colon - start) + " " + line.substr(colon + 1, end - colon - 1);
}

std::string LastWarning(const std::string& log) {
  constexpr std::string_view kMark = "NCCL WARN ";
  const auto at = log.rfind(kMark);
  if (at == std::string::npos) return "";
  const auto start = at + kMark.size();
  return log.substr(start, log.find('\n', start) - start);
}

}  // namespace nccl_tune::nccl_judge
