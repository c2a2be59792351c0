// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/nccl_integer.h"

#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace nccl_tune::nccl {
namespace {

struct Split {
  bool negative = false;
  std::string_view digits;  // after blanks and one sign
};

Split SplitSign(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\v\f\r");
  if (first == std::string_view::npos) return {};
  text.remove_prefix(first);
  if (text.front() != '-' && text.front() != '+') return {.digits = text};
  return {.negative = text.front() == '-', .digits = text.substr(1)};
}

bool IsDigit(char c, int base) {
  if (c >= '0' && c <= '9') return c - '0' < base;
  return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

int BaseOf(std::string_view digits) {
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') && IsDigit(digits[2], 16))
    return 16;
  return digits.starts_with('0') ? 8 : 10;
}

}  // namespace

NcclInteger ReadNcclInteger(std::string_view text) {
  if (text.empty()) return {};
  Split split = SplitSign(text);
  const int base = BaseOf(split.digits);
  if (base == 16) split.digits.remove_prefix(2);
  if (split.digits.empty() || !IsDigit(split.digits.front(), base)) return {.value = 0, .form = IntegerForm::kNoNumber};
  std::uint64_t magnitude = 0;
  const char* end = split.digits.data() + split.digits.size();
  const auto [stop, error] = std::from_chars(split.digits.data(), end, magnitude, base);
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error == std::errc::result_out_of_range || magnitude > kLargest) return {.form = IntegerForm::kTooLarge};
  const auto value = static_cast<std::int64_t>(magnitude);
  IntegerForm form = IntegerForm::kPlain;
  if (base == 8 && stop - split.digits.data() > 1) form = IntegerForm::kOctal;
  if (stop != end) form = IntegerForm::kRestText;
  return {.value = split.negative ? -value : value, .form = form};
}

int ReadListNumber(std::string_view text) {
  const Split split = SplitSign(text);
  if (split.digits.starts_with('-')) return 0;  // a second sign, which from_chars would take
  int value = 0;
  const auto [stop, error] = std::from_chars(split.digits.data(), split.digits.data() + split.digits.size(), value);
  (void)stop;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<int>::max();
  if (error != std::errc()) return 0;
  return split.negative ? -value : value;
}

}  // namespace nccl_tune::nccl
