// SPDX-License-Identifier: Apache-2.0
//
// Text laid out for a terminal.
#ifndef NCCL_TUNE_REPORT_WRAP_H_
#define NCCL_TUNE_REPORT_WRAP_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nccl_tune::report {

inline constexpr std::size_t kWidth = 80;

// `label` in a column of `indent` characters, then `text` broken at blanks so that no line is wider than `width`; a
// word longer than a line stays whole. Bytes outside printable ASCII are shown as \xNN, in the label too. Ends with a
// line end.
std::string Wrap(std::string_view label, std::size_t indent, std::string_view text, std::size_t width = kWidth);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_WRAP_H_
