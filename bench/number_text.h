// SPDX-License-Identifier: Apache-2.0
//
// Numbers as nccl-tests prints them: two decimals, fewer when they do not fit the column, else an exponent. The decimal
// point is a point in every locale. Pure.
#ifndef NCCL_TUNE_BENCH_NUMBER_TEXT_H_
#define NCCL_TUNE_BENCH_NUMBER_TEXT_H_

#include <string>
#include <string_view>

namespace nccl_tune::bench {

// At most 7 characters: "12.34", "99999.9", "123457", "1.0e+07". From 1e100 on it is longer, where nccl-tests cuts the
// exponent's last digit off.
std::string TimeText(double microseconds);

// At most 6 characters: "12.34", "1234.6", "123457", "1e+06".
std::string BandwidthText(double gigabytes_per_second);

// As printf's %g.
std::string ShortText(double number);

// As printf's %.*f.
std::string FixedText(double number, int decimals);

// The shortest text that reads back as the same number.
std::string ExactText(double number);

// `text` right-aligned in `width`.
std::string Right(std::string_view text, std::size_t width);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NUMBER_TEXT_H_
