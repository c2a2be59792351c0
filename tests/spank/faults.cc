// SPDX-License-Identifier: Apache-2.0
//
// What stands between the plugin and Slurm in a build for tests: functions of Slurm's and of the C library's that do as
// theirs, or go wrong in the way that a word in a file of the embedded cluster names. They are inside the plugin, so
// that nothing else in Slurm's processes is touched.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>

#include "spank/slurm.h"

namespace {

std::string PlannedFault() {
  std::ifstream file("/run/cluster/conf/fault");
  std::string word;
  file >> word;
  return word;
}

template <typename Function>
Function Real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

extern "C" {

// Called by init.
spank_err_t spank_option_register(spank_t spank, struct spank_option* option) {
  if (PlannedFault() == "init") throw std::runtime_error("planted in init");
  return Real<decltype(&spank_option_register)>("spank_option_register")(spank, option);
}

// Called first, for the job's environment, by local_user_init in srun and by user_init on a node. Every item that the
// plugin asks for takes one pointer.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...) {
  va_list values;
  va_start(values, item);
  void* const value = va_arg(values, void*);
  va_end(values);
  const std::string fault = item == S_JOB_ENV ? PlannedFault() : "";
  const bool local = spank_context() == S_CTX_LOCAL;
  if (fault == "local_user_init" && local) throw std::bad_alloc();
  if (fault == "user_init" && !local) throw std::runtime_error("planted in user_init");
  if (fault == "user_init_odd" && !local) throw 7;
  return Real<decltype(&spank_get_item)>("spank_get_item")(spank, item, value);
}
#pragma GCC diagnostic pop

// Called by task_init.
spank_err_t spank_getenv(spank_t spank, const char* name, char* value, int length) {
  if (PlannedFault() == "task_init") throw std::runtime_error("planted in task_init");
  return Real<decltype(&spank_getenv)>("spank_getenv")(spank, name, value, length);
}

// Called in the process that looks at the node, and nowhere else.
int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  const std::string fault = PlannedFault();
  if (fault == "child_crash") raise(SIGSEGV);
  if (fault == "child_abort") raise(SIGABRT);
  if (fault == "child_hang") pause();
  if (fault == "child_silent") _exit(0);
  if (fault == "child_refused") return -1;
  return Real<decltype(&setresuid)>("setresuid")(real, effective, saved);
}

}  // extern "C"
