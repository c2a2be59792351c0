// SPDX-License-Identifier: Apache-2.0
//
// The version of an NCCL library as a value that compares. What NCCL does with a variable depends on it.
#ifndef NCCL_TUNE_CORE_NCCL_NCCL_VERSION_H_
#define NCCL_TUNE_CORE_NCCL_NCCL_VERSION_H_

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::nccl {

struct NcclVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;

  auto operator<=>(const NcclVersion&) const = default;

  // Inside the releases whose behaviour was read: 2.18 to 2.32, any patch. Outside, the nearest one is assumed.
  bool IsKnown() const;
  std::string ToString() const;  // "2.28.9"
};

// Stands for the library of a job that could not be found.
inline constexpr NcclVersion kAssumedVersion{2, 28, 9};

// "2.28.9": three decimal numbers and nothing else; the patch is at most 99, as in NCCL's code. Fails on other text.
base::Result<NcclVersion> ParseNcclVersion(std::string_view text);

// What ncclGetVersion gives: 22809 is 2.28.9; up to 2.8 the form was 2804 for 2.8.4. Fails on a number that is no code.
base::Result<NcclVersion> NcclVersionFromCode(int code);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_NCCL_VERSION_H_
