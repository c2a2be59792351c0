// SPDX-License-Identifier: Apache-2.0
//
// The variables of a process as a plain value, so that code below the edges never asks the operating system.
#ifndef NCCL_TUNE_CORE_NCCL_ENVIRONMENT_H_
#define NCCL_TUNE_CORE_NCCL_ENVIRONMENT_H_

#include <optional>
#include <string_view>

#include "base/environment.h"

namespace nccl_tune::nccl {

using base::Environment;

// The value of `name`; nothing when unset. A set but empty variable is "": NCCL tells the two apart in places.
// The view lives as long as `environment`.
inline std::optional<std::string_view> GetVariable(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return std::string_view(found->second);
}

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_ENVIRONMENT_H_
