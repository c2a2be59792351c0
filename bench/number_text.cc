// SPDX-License-Identifier: Apache-2.0
#include "bench/number_text.h"

#include <array>
#include <charconv>

namespace nccl_tune::bench {
namespace {

// The longest: all digits of the greatest double, and some decimals.
using Digits = std::array<char, 400>;

template <typename... Format>
std::string Text(double number, Format... format) {
  Digits digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, format...).ptr;
  return {digits.data(), end};
}

std::string Fitted(double number, std::size_t width, int exponent_decimals) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = FixedText(number, decimals);
    if (text.size() <= width) return text;
  }
  return Text(number, std::chars_format::scientific, exponent_decimals);
}

}  // namespace

std::string TimeText(double microseconds) { return Fitted(microseconds, 7, 1); }

std::string BandwidthText(double gigabytes_per_second) { return Fitted(gigabytes_per_second, 6, 0); }

std::string ShortText(double number) { return Text(number, std::chars_format::general, 6); }

std::string FixedText(double number, int decimals) { return Text(number, std::chars_format::fixed, decimals); }

std::string ExactText(double number) { return Text(number); }

std::string Right(std::string_view text, std::size_t width) {
  const std::size_t blanks = text.size() < width ? width - text.size() : 0;
  return std::string(blanks, ' ').append(text);
}

}  // namespace nccl_tune::bench
