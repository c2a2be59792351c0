// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/parse_number.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

template <std::integral T>
void TryInteger(std::string_view text) {
  const auto number = base::ParseInteger<T>(text);
  if (!number.ok()) return RequireReadable(number.error());
  const auto again = base::ParseInteger<T>(std::to_string(*number));
  Require(again.ok() && *again == *number, "a number is read as it is written", text);
  Require(text.find_first_not_of("-0123456789") == text.npos, "a number has digits only", text);
}

void TryOne(std::string_view text) {
  TryInteger<int>(text);
  TryInteger<std::int64_t>(text);
  TryInteger<std::uint64_t>(text);
  TryInteger<std::uint16_t>(text);
  const auto hexadecimal = base::ParseHexOrDecimal(text);
  if (!hexadecimal.ok()) RequireReadable(hexadecimal.error());
  const auto decimal = base::ParseDecimal(text);
  if (!decimal.ok()) RequireReadable(decimal.error());
  Require(!decimal.ok() || std::isfinite(*decimal), "a decimal is finite", text);
  const std::string_view trimmed = base::Trim(text);
  Require(base::Trim(trimmed) == trimmed, "trimmed once is trimmed", text);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
