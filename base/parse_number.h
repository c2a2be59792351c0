// SPDX-License-Identifier: Apache-2.0
//
// Strict text to number: the whole text must be the number. No blanks, no sign where none is meant, no locale, no
// silent wrap-around. On failure an Error that shows the text; the caller adds `where`.
#ifndef NCCL_TUNE_BASE_PARSE_NUMBER_H_
#define NCCL_TUNE_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::base {

// Decimal (base 10) or hexadecimal without prefix (base 16). Fails on empty text, rest text and values outside T.
template <std::integral T>
Result<T> ParseInteger(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range) {
    return Error{.code = Code::kInvalidInput, .what = "number out of range", .seen = std::string(text)};
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a whole number",
                 .seen = std::string(text),
                 .expected = base == 16 ? "hexadecimal digits" : "decimal digits"};
  }
  return value;
}

// Decimal int, as a plain function to pass on.
inline Result<int> ParseInt(std::string_view text) { return ParseInteger<int>(text); }

// "0x1f" or "31"; sysfs writes both.
Result<std::uint64_t> ParseHexOrDecimal(std::string_view text);

// A decimal fraction such as "12.5". Fails on infinities, NaN, hexadecimal and rest text.
Result<double> ParseDecimal(std::string_view text);

// `text` without blanks, tabs and line ends at both sides.
std::string_view Trim(std::string_view text);

}  // namespace nccl_tune::base

#endif  // NCCL_TUNE_BASE_PARSE_NUMBER_H_
