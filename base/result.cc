// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstddef>

namespace nccl_tune::base {

std::string Shortened(std::string_view text) {
  constexpr std::size_t kMost = 512;
  if (text.size() <= kMost) return std::string(text);
  return std::string(text.substr(0, kMost)) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string Printable(std::string_view text) {
  constexpr std::size_t kLimit = 200;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (char c : text.substr(0, kLimit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  if (text.size() > kLimit) out += "...";
  return out;
}

std::string Error::ToString() const {
  std::string out;
  if (!where.empty()) out += Printable(where) + ": ";
  out += what;
  // An empty value is a value where something was given; where nothing could be read there is none to show.
  if (!seen.empty() || (!expected.empty() && code == Code::kInvalidInput)) {
    out += ": got \"" + Printable(seen) + "\"";
    if (!expected.empty()) out += ", expected " + expected;
  } else if (!expected.empty()) {
    out += "; expected " + expected;
  }
  if (!hint.empty()) out += ". " + hint;
  return out;
}

}  // namespace nccl_tune::base
