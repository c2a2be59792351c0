// SPDX-License-Identifier: Apache-2.0
//
// The version of nccl-tune that every program prints with --version.
#ifndef NCCL_TUNE_BASE_VERSION_H_
#define NCCL_TUNE_BASE_VERSION_H_

#include <string_view>

namespace nccl_tune::base {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_VERSION_H_
