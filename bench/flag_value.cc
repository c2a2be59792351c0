// SPDX-License-Identifier: Apache-2.0
#include "bench/flag_value.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;

std::string RangeText(Range range) {
  const bool is_open = range.most == std::numeric_limits<int>::max();
  if (is_open && range.least == std::numeric_limits<int>::min()) return "a whole number";
  if (is_open) return "a whole number from " + std::to_string(range.least) + " on";
  if (range.most == range.least + 1) return std::to_string(range.least) + " or " + std::to_string(range.most);
  return "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

// Takes the sign off; whether it was a minus.
bool TakeSign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

}  // namespace

Error BadValue(std::string_view seen, std::string_view expected) {
  return Error{
      .code = Code::kInvalidInput, .what = "bad value", .seen = std::string(seen), .expected = std::string(expected)};
}

Result<std::int64_t> ParseWhole(std::string_view text) {
  const Error malformed = BadValue(text, "a whole number");
  std::string_view digits = base::Trim(text);
  const bool negative = TakeSign(digits);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits.starts_with('0')) {
    base = 8;
  }
  const auto number = base::ParseInteger<std::uint64_t>(digits, base);
  if (!number.ok() || *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return malformed;
  return negative ? -static_cast<std::int64_t>(*number) : static_cast<std::int64_t>(*number);
}

Result<double> ParseReal(std::string_view text) {
  const Error malformed = BadValue(text, "a number");
  std::string_view digits = base::Trim(text);
  const bool negative = TakeSign(digits);
  if (digits.starts_with('-')) return malformed;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, std::chars_format::general);
  if (error != std::errc() || rest != end || !std::isfinite(value)) return malformed;
  return negative ? -value : value;
}

Result<int> ParseCount(std::string_view text, Range range) {
  const auto number = ParseWhole(text);
  if (!number.ok() || *number < range.least || *number > range.most) return BadValue(text, RangeText(range));
  return static_cast<int>(*number);
}

Result<double> ParseRealFrom(double least, std::string_view text, std::string_view expected) {
  const auto number = ParseReal(text);
  if (!number.ok() || *number < least) return BadValue(text, expected);
  return *number;
}

}  // namespace nccl_tune::bench
