// SPDX-License-Identifier: Apache-2.0
#include "tests/envplugin/host.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace nccl_tune::envplugin_test {
namespace {

std::string& LogText() {
  static std::string text;
  return text;
}

}  // namespace

Host::Host() {
  library_ = dlopen("envplugin/libnccl-env-nccl-tune.so", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return;
  }
  v1 = static_cast<const envplugin::NcclEnvV1*>(dlsym(library_, "ncclEnvPlugin_v1"));
  v2 = static_cast<const envplugin::NcclEnvV2*>(dlsym(library_, "ncclEnvPlugin_v2"));
}

Host::~Host() {
  if (library_ != nullptr) dlclose(library_);
}

std::string Host::Get(const char* name) const {
  const char* value = v1->get_env(name);
  return value == nullptr ? "none" : value;
}

void Log(int level, unsigned long subsystems, const char* file, int, const char* format, ...) {
  std::array<char, 4096> text{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  const bool known = level == envplugin::kLogInfo && subsystems == envplugin::kLogEnv && file != nullptr;
  LogText() += (known ? "" : "strange: ") + std::string(text.data()) + "\n";
}

std::string TakeLog() { return std::exchange(LogText(), ""); }

Stderr::Stderr() : own_(dup(STDERR_FILENO)), file_(memfd_create("stderr", 0)) { dup2(file_, STDERR_FILENO); }

Stderr::~Stderr() {
  dup2(own_, STDERR_FILENO);
  close(own_);
  close(file_);
}

std::string Stderr::Text() const {
  std::string out;
  std::array<char, 4096> part{};
  for (off_t at = 0;;) {
    const ssize_t got = pread(file_, part.data(), part.size(), at);
    if (got <= 0) return out;
    out.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace nccl_tune::envplugin_test
