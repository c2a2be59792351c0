// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/byte_reader.h"

#include <algorithm>

namespace nccl_tune::fuzz {

std::uint8_t ByteReader::Byte() {
  if (rest_.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

std::uint32_t ByteReader::Word() {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8U | Byte();
  return word;
}

std::string ByteReader::Text(std::size_t limit) {
  const std::size_t length = std::min({std::size_t{Byte()}, limit, rest_.size()});
  const std::string out(rest_.substr(0, length));
  rest_.remove_prefix(length);
  return out;
}

std::string_view ByteReader::Line() {
  const auto end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  return line;
}

std::string_view ByteReader::Rest() {
  const std::string_view out = rest_;
  rest_ = {};
  return out;
}

}  // namespace nccl_tune::fuzz
