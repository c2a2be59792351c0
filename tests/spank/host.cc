// SPDX-License-Identifier: Apache-2.0
#include "tests/spank/host.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

extern "C" {
#include <slurm/spank.h>
}

namespace nccl_tune::spank_test {
namespace {

Host* the_host = nullptr;

std::string Format(const char* format, va_list values) {
  char text[16384];
  const int length = std::vsnprintf(text, sizeof text, format, values);
  return length < 0 ? "" : std::string(text) + "\n";
}

}  // namespace

Host* TheHost() { return the_host; }

Host::Host() {
  the_host = this;
  library_ = dlopen("spank/spank_nccl_tune.so", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) std::fprintf(stderr, "%s\n", dlerror());
}

Host::~Host() {
  if (library_ != nullptr) dlclose(library_);
  the_host = nullptr;
}

int Host::Call(const char* name, std::vector<std::string> arguments) {
  using Callback = int (*)(spank_t, int, char**);
  const auto function = reinterpret_cast<Callback>(dlsym(library_, name));
  if (function == nullptr) return -99;
  std::vector<char*> words;
  for (auto& argument : arguments) words.push_back(argument.data());
  return function(nullptr, static_cast<int>(words.size()), words.data());
}

int Host::Init(std::vector<std::string> arguments) { return Call("slurm_spank_init", std::move(arguments)); }
int Host::Option(const char* value, bool remote) {
  return callback == nullptr ? -99 : callback(0, value, remote ? 1 : 0);
}

int Host::UserInit() {
  texts_.clear();
  entries.clear();
  for (const auto& [name, value] : job) texts_.push_back(name + "=" + value);
  for (auto& text : texts_) entries.push_back(text.data());
  entries.push_back(nullptr);
  return Call("slurm_spank_user_init", {});
}

int Host::TaskInit() { return Call("slurm_spank_task_init", {}); }

}  // namespace nccl_tune::spank_test

using nccl_tune::spank_test::TheHost;

// A macro in some releases of Slurm, a member of the type in others.
constexpr auto kSuccess = static_cast<spank_err_t>(ESPANK_SUCCESS);

extern "C" {

// Stands before the C library's own, to count the processes that the plugin starts.
pid_t fork(void) {
  using Fork = pid_t (*)();
  const auto real = reinterpret_cast<Fork>(dlsym(RTLD_NEXT, "fork"));
  if (TheHost() != nullptr) ++TheHost()->forks;
  return real();
}

void slurm_error(const char* format, ...) {
  va_list values;
  va_start(values, format);
  TheHost()->log += "error: " + nccl_tune::spank_test::Format(format, values);
  va_end(values);
}

void slurm_spank_log(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const std::string line = nccl_tune::spank_test::Format(format, values);
  va_end(values);
  TheHost()->log += line;
  if (TheHost()->log_to >= 0) (void)!write(TheHost()->log_to, line.data(), line.size());
}

void slurm_info(const char* format, ...) {
  va_list values;
  va_start(values, format);
  TheHost()->info += nccl_tune::spank_test::Format(format, values);
  va_end(values);
}

void slurm_debug(const char* format, ...) {
  va_list values;
  va_start(values, format);
  TheHost()->debug += nccl_tune::spank_test::Format(format, values);
  va_end(values);
}

spank_context_t spank_context(void) { return S_CTX_REMOTE; }

spank_err_t spank_option_register(spank_t, struct spank_option* option) {
  TheHost()->option_name = option->name;
  TheHost()->callback = option->cb;
  return kSuccess;
}

// Slurm's own prototype: the type before the dots is an enumeration, which clang finds doubtful.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"
spank_err_t spank_get_item(spank_t, spank_item_t item, ...) {
  va_list values;
  va_start(values, item);
  bool known = true;
  if (item == S_JOB_ENV && TheHost()->has_environment)
    *va_arg(values, char***) = TheHost()->entries.data();
  else if (item == S_JOB_NODEID)
    *va_arg(values, std::uint32_t*) = TheHost()->node_id;
  else if (item == S_TASK_ID)
    *va_arg(values, int*) = TheHost()->task_id;
  else
    known = false;
  va_end(values);
  return known ? kSuccess : ESPANK_BAD_ARG;
}
#pragma GCC diagnostic pop

spank_err_t spank_getenv(spank_t, const char* name, char* value, int length) {
  const auto found = TheHost()->task.find(name);
  if (found == TheHost()->task.end()) return ESPANK_ENV_NOEXIST;
  const std::size_t room = static_cast<std::size_t>(length);
  std::strncpy(value, found->second.c_str(), room);
  return found->second.size() < room ? kSuccess : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t, const char* name, const char* value, int overwrite) {
  if (!TheHost()->can_set) return ESPANK_ERROR;
  ++TheHost()->changes;
  if (overwrite != 0)
    TheHost()->task[name] = value;
  else
    TheHost()->task.emplace(name, value);
  return kSuccess;
}

spank_err_t spank_unsetenv(spank_t, const char* name) {
  ++TheHost()->changes;
  TheHost()->task.erase(name);
  return kSuccess;
}

}  // extern "C"
