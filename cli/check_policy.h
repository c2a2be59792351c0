// SPDX-License-Identifier: Apache-2.0
//
// nccl-tune check-policy: what is wrong with a site policy, or what it says.
#ifndef NCCL_TUNE_CLI_CHECK_POLICY_H_
#define NCCL_TUNE_CLI_CHECK_POLICY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "site/document.h"

namespace nccl_tune::cli {

// How much of a policy's file is read; a longer one is refused.
inline constexpr std::size_t kPolicyLimit = site::kLargestPolicy;

struct CheckedText {
  bool ok = false;      // no fault
  std::string summary;  // for standard output; empty with faults
  std::string faults;   // for standard error: a line for each fault, and for each odd thing that is none
};

// `file` names the text in messages.
CheckedText CheckPolicyText(std::string_view text, const std::string& file);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_CHECK_POLICY_H_
