// SPDX-License-Identifier: Apache-2.0
//
// Letters without a locale: what NCCL, Slurm and sysfs mean by "in any case".
#ifndef NCCL_TUNE_BASE_ASCII_H_
#define NCCL_TUNE_BASE_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace nccl_tune::base {

constexpr char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string LowerAscii(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return LowerAscii(c); });
  return out;
}

inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerAscii(x) == LowerAscii(y); });
}

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_ASCII_H_
