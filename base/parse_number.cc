// SPDX-License-Identifier: Apache-2.0
#include "base/parse_number.h"

#include <cmath>

namespace nccl_tune::base {

Result<std::uint64_t> ParseHexOrDecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return ParseInteger<std::uint64_t>(text.substr(2), 16);
  return ParseInteger<std::uint64_t>(text);
}

Result<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a number",
                 .seen = std::string(text),
                 .expected = "a decimal number such as 12.5"};
  }
  return value;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace nccl_tune::base
