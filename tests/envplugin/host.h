// SPDX-License-Identifier: Apache-2.0
//
// Plays NCCL for the env plugin: opens the library as NCCL does, looks up the two tables and calls through them.
#ifndef NCCL_TUNE_TESTS_ENVPLUGIN_HOST_H_
#define NCCL_TUNE_TESTS_ENVPLUGIN_HOST_H_

#include <string>

#include "envplugin/nccl_env.h"

namespace nccl_tune::envplugin_test {

// The library as one libnccl holds it. Opening it again gives the same library, as it does to NCCL.
class Host {
 public:
  Host();
  ~Host();  // closes it, as NCCL does at exit
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const envplugin::NcclEnvV1* v1 = nullptr;
  const envplugin::NcclEnvV2* v2 = nullptr;

  // What getEnv gives; "none" for null.
  std::string Get(const char* name) const;

 private:
  void* library_ = nullptr;
};

// NCCL's logger; keeps what it was given, a line each.
void Log(int level, unsigned long subsystems, const char* file, int line, const char* format, ...);
std::string TakeLog();

// What `call` writes to stderr.
class Stderr {
 public:
  Stderr();
  ~Stderr();
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  std::string Text() const;

 private:
  int own_ = -1;
  int file_ = -1;
};

}  // namespace nccl_tune::envplugin_test

#endif  // NCCL_TUNE_TESTS_ENVPLUGIN_HOST_H_
