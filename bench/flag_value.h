// SPDX-License-Identifier: Apache-2.0
//
// Values of flags and variables, read as nccl-tests reads them but strictly: what it would silently cut off, wrap or
// replace by a default is an Error that shows the text and what was expected. Pure.
#ifndef NCCL_TUNE_BENCH_FLAG_VALUE_H_
#define NCCL_TUNE_BENCH_FLAG_VALUE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::bench {

// As C's strtol with base 0: decimal, hexadecimal after 0x, octal after 0, a sign; blanks around it do not count.
base::Result<std::int64_t> ParseWhole(std::string_view text);

// A finite number: "12.5", "1e3", "+.5"; blanks around it do not count.
base::Result<double> ParseReal(std::string_view text);

struct Range {
  int least = std::numeric_limits<int>::min();
  int most = std::numeric_limits<int>::max();
};
inline constexpr Range kAny{};
inline constexpr Range kFromZero{.least = 0};
inline constexpr Range kFromOne{.least = 1};
inline constexpr Range kSwitch{.least = 0, .most = 1};

base::Result<int> ParseCount(std::string_view text, Range range);

// ParseReal, but below `least` or not a number is an Error that expects `expected`.
base::Result<double> ParseRealFrom(double least, std::string_view text, std::string_view expected);

// What every Error about a value says.
base::Error BadValue(std::string_view seen, std::string_view expected);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_FLAG_VALUE_H_
