// SPDX-License-Identifier: Apache-2.0
//
// Name patterns of the site policy: "*" is any text, "?" any one character, everything else is itself.
#ifndef NCCL_TUNE_CORE_POLICY_GLOB_H_
#define NCCL_TUNE_CORE_POLICY_GLOB_H_

#include <string_view>

#include "base/result.h"

namespace nccl_tune::policy {

// Ok, or why `pattern` cannot be one: it is empty, longer than 128 bytes, or holds a character that no device,
// interface or variable has. Without `where`.
base::Status CheckGlob(std::string_view pattern);

// The whole of `text`, case matters. At most size x size steps.
bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_GLOB_H_
