// SPDX-License-Identifier: Apache-2.0
#include "bench/sizes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/parse_number.h"
#include "bench/flag_value.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;

constexpr std::uint64_t kGiB = 1ULL << 30U;

unsigned ShiftOf(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    default:
      return 0;
  }
}

}  // namespace

base::Result<std::uint64_t> ParseSize(std::string_view text) {
  const Error malformed{.code = Code::kInvalidInput,
                        .what = "not a size",
                        .seen = std::string(text),
                        .expected = "bytes, or a number with K, M or G"};
  std::string_view digits = base::Trim(text);
  if (digits.empty()) return malformed;
  const unsigned shift = ShiftOf(digits.back());
  if (shift != 0) digits.remove_suffix(1);
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const auto whole = ParseWhole(digits);
  const auto number = is_hexadecimal && whole.ok() ? static_cast<double>(*whole) : ParseReal(digits);
  constexpr double kTooLarge = 0x1p63;
  if (!number.ok()) return malformed;
  const double bytes = *number * static_cast<double>(1ULL << shift);
  if (std::signbit(bytes) || bytes >= kTooLarge) return malformed;
  return static_cast<std::uint64_t>(bytes);
}

base::Status CheckSweep(const Sweep& sweep) {
  if (sweep.min_bytes > sweep.max_bytes) {
    return Error{.code = Code::kInvalidInput,
                 .what = "is less than the first size (-b), " + std::to_string(sweep.min_bytes),
                 .where = "-e",
                 .seen = std::to_string(sweep.max_bytes),
                 .hint = "Both are 32M where they are not given."};
  }
  if (sweep.factor > 1 && sweep.min_bytes == 0) {
    return Error{.code = Code::kInvalidInput,
                 .what = "0 times a factor stays 0",
                 .where = "-b",
                 .seen = "0",
                 .expected = "at least 1 with -f"};
  }
  if (sweep.factor <= 1 && sweep.step_bytes == 0 && sweep.min_bytes != sweep.max_bytes) {
    return Error{.code = Code::kInvalidInput,
                 .what = "a step of 0 never reaches the last size",
                 .where = "-i",
                 .seen = "0",
                 .expected = "at least 1, or a factor (-f) of at least 2"};
  }
  constexpr std::uint64_t kMostRows = 1'000'000;
  if (sweep.factor <= 1 && sweep.step_bytes > 0 &&
      (sweep.max_bytes - sweep.min_bytes) / sweep.step_bytes >= kMostRows) {
    return Error{.code = Code::kInvalidInput,
                 .what = "makes more than " + std::to_string(kMostRows) + " sizes from " +
                         std::to_string(sweep.min_bytes) + " to " + std::to_string(sweep.max_bytes),
                 .where = "-i",
                 .seen = std::to_string(sweep.step_bytes),
                 .expected = "a larger step, or a factor (-f)"};
  }
  return base::Ok();
}

std::vector<std::uint64_t> SizesOf(const Sweep& sweep) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = sweep.min_bytes; size <= sweep.max_bytes;) {
    sizes.push_back(size);
    if (sweep.factor > 1) {
      if (size > sweep.max_bytes / sweep.factor) break;
      size *= sweep.factor;
    } else {
      if (sweep.step_bytes == 0 || sweep.max_bytes - size < sweep.step_bytes) break;
      size += sweep.step_bytes;
    }
  }
  return sizes;
}

std::uint64_t LargestSize(std::uint64_t memory, bool with_check) {
  const std::uint64_t reserve = std::min<std::uint64_t>((memory + 16 * kGiB - 1) / (16 * kGiB), 4) * kGiB + kGiB;
  const std::uint64_t usable = memory > reserve ? memory - reserve : memory / 2;
  return usable / (with_check ? 3 : 2);
}

}  // namespace nccl_tune::bench
