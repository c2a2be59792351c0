// SPDX-License-Identifier: Apache-2.0
#include "bench/number_text.h"

#include <iomanip>
#include <ios>
#include <locale>
#include <sstream>

namespace nccl_tune::bench {
namespace {

std::ostringstream Stream() {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  return stream;
}

std::string Fitted(double number, std::size_t width, int exponent_decimals) {
  for (const int decimals : {2, 1, 0}) {
    std::ostringstream stream = Stream();
    stream << std::fixed << std::setprecision(decimals) << number;
    if (stream.str().size() <= width) return stream.str();
  }
  std::ostringstream stream = Stream();
  stream << std::scientific << std::setprecision(exponent_decimals) << number;
  return stream.str();
}

}  // namespace

std::string TimeText(double microseconds) { return Fitted(microseconds, 7, 1); }

std::string BandwidthText(double gigabytes_per_second) { return Fitted(gigabytes_per_second, 6, 0); }

std::string ShortText(double number) {
  std::ostringstream stream = Stream();
  stream << number;
  return stream.str();
}

std::string Right(std::string_view text, std::size_t width) {
  const std::size_t blanks = text.size() < width ? width - text.size() : 0;
  return std::string(blanks, ' ').append(text);
}

}  // namespace nccl_tune::bench
