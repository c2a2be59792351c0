// SPDX-License-Identifier: Apache-2.0
//
// The real libnccl.so.2 as the judge of our model: loaded at run time, asked with its log turned on.
#ifndef NCCL_TUNE_TESTS_NCCL_NCCL_LIBRARY_H_
#define NCCL_TUNE_TESTS_NCCL_NCCL_LIBRARY_H_

#include <string>

#include "base/result.h"

namespace nccl_tune::nccl_judge {

// Of NCCL's public header, as stable since 2.0.
struct UniqueId {
  char bytes[128];
};
using Communicator = void*;

struct NcclLibrary {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Communicator*, int, UniqueId, int) = nullptr;
  std::string version{};  // "2.28.9"
};

// Loads `path`; when that is empty, what the loader finds, then the one of /usr/local/cuda. Never unloaded. Fails with
// kNotFound when there is none, and with kInvalidInput when it is no NCCL.
base::Result<NcclLibrary> OpenNccl(const std::string& path);

// NCCL's log as a file in memory. Open it before NCCL's first call: NCCL reads its variables once.
class Log {
 public:
  // Points NCCL's variables at it: all subsystems, level INFO.
  static base::Result<Log> Open();

  std::string Text() const;

 private:
  explicit Log(int fd) : fd_(fd) {}
  int fd_;  // until the process ends
};

// The first line of `log` that holds `mark`, from there on; empty when there is none.
std::string FindAfter(const std::string& log, const std::string& mark);

// "eth0 10.0.0.5" out of NCCL's "Bootstrap: Using eth0:10.0.0.5<0>"; empty when it says no such thing.
std::string TakenInterface(const std::string& log);

// The last warning in `log`, without what NCCL puts before it.
std::string LastWarning(const std::string& log);

}  // namespace nccl_tune::nccl_judge

#endif  // NCCL_TUNE_TESTS_NCCL_NCCL_LIBRARY_H_
