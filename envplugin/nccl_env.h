// SPDX-License-Identifier: Apache-2.0
//
// What NCCL looks up in an env plugin, declared for ourselves. Knows nothing of ours.
//
// Source of the layouts: NVIDIA/nccl, src/include/plugin/env/env_v1.h and env_v2.h (v2.28.7-1 to v2.30.7-1, and the
// 2.31.0 line), src/include/nccl_common.h for the logger. Source of what NCCL does with them: src/plugin/env.cc,
// src/plugin/env/env_v1.cc, src/init.cc and src/misc/param.cc of the same releases. No release before 2.28.7 has any of
// it; 2.28.7 to 2.30.4 look for ncclEnvPlugin_v1 only, 2.30.7 and later for ncclEnvPlugin_v2 and then for _v1.
//
// - The configuration files are in the process environment before the library is opened.
// - init is called once for each libnccl in the process, before any getEnv of it, under a lock of that libnccl. When it
//   does not return success, every call into that NCCL fails: NCCL's README says it falls back, its code does not.
// - getEnv is called from any thread. What it returns is all that NCCL learns: for names that the plugin knows nothing
//   of it must look into the process environment itself. A text stays valid until finalize or the next call for its
//   name.
// - finalize is called from atexit; then the library is closed, whatever threads of NCCL are still there. NCCL does
//   not call getEnv afterwards.
// - NCCL_ENV_PLUGIN, NCCL_CONF_FILE and, for the lines before init, NCCL_DEBUG are read past the plugin.
#ifndef NCCL_TUNE_ENVPLUGIN_NCCL_ENV_H_
#define NCCL_TUNE_ENVPLUGIN_NCCL_ENV_H_

#include <cstdint>

namespace nccl_tune::envplugin {

inline constexpr int kNcclSuccess = 0;         // ncclResult_t, an enumeration
inline constexpr int kLogInfo = 3;             // ncclDebugLogLevel, an enumeration
inline constexpr unsigned long kLogEnv = 128;  // of the subsystems

extern "C" {

// As printf after the first four; prints nothing where NCCL_DEBUG does not ask for it.
using NcclLogger = void (*)(int level, unsigned long subsystems, const char* file, int line, const char* format, ...);

struct NcclEnvV1 {
  const char* name;
  int (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix);
  int (*finalize)();
  const char* (*get_env)(const char* name);
};

struct NcclEnvV2 {
  const char* name;
  int (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix, NcclLogger log);
  int (*finalize)();
  const char* (*get_env)(const char* name);
};

}  // extern "C"

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_NCCL_ENV_H_
