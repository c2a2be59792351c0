// SPDX-License-Identifier: Apache-2.0
#include "bench/split.h"

#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "bench/flag_value.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using Operation = Split::Operation;

constexpr std::string_view kExpected =
    "AND, OR, MOD or DIV (or & | % /) and a whole number from 0 to 9223372036854775807";

struct OperationName {
  std::string_view name;
  Operation operation;
};
constexpr std::array<OperationName, 8> kOperations = {{{"AND", Operation::kAnd},
                                                       {"&", Operation::kAnd},
                                                       {"OR", Operation::kOr},
                                                       {"|", Operation::kOr},
                                                       {"MOD", Operation::kModulo},
                                                       {"%", Operation::kModulo},
                                                       {"DIV", Operation::kDivide},
                                                       {"/", Operation::kDivide}}};

std::optional<std::uint64_t> ParseValue(std::string_view text) {
  text = base::Trim(text);
  if (text.starts_with("0b") || text.starts_with("0B")) {
    const auto bits = base::ParseInteger<std::uint64_t>(text.substr(2), 2);
    return bits.ok() ? std::optional(*bits) : std::nullopt;
  }
  const auto number = ParseWhole(text);
  if (!number.ok() || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

Result<Split> ParseSplit(std::string_view text) {
  for (const OperationName& one : kOperations) {
    if (!base::EqualsIgnoringCase(text.substr(0, one.name.size()), one.name)) continue;
    const auto value = ParseValue(text.substr(one.name.size()));
    if (!value) break;
    const bool divides = one.operation == Operation::kModulo || one.operation == Operation::kDivide;
    if (divides && *value == 0) return BadValue(text, "a whole number from 1 on to divide by");
    return Split{.operation = one.operation, .value = *value};
  }
  return BadValue(text, kExpected);
}

Result<Split> ParseSplitMask(std::string_view text) {
  std::string_view digits = base::Trim(text);
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  const auto mask = base::ParseInteger<std::uint64_t>(digits, 16);
  if (!mask.ok()) return BadValue(text, "1 to 16 hexadecimal digits");
  return Split{.operation = Operation::kAnd, .value = *mask};
}

std::uint64_t GroupOf(const Split& split, std::uint64_t process) {
  switch (split.operation) {
    case Operation::kOr:
      return process | split.value;
    case Operation::kModulo:
      return split.value == 0 ? process : process % split.value;
    case Operation::kDivide:
      return split.value == 0 ? process : process / split.value;
    case Operation::kAnd:
      break;
  }
  return process & split.value;
}

}  // namespace nccl_tune::bench
