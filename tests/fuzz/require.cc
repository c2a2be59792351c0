// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/require.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace nccl_tune::fuzz {

void Require(bool holds, std::string_view promise, std::string_view seen) {
  if (holds) return;
  const std::string text = "broken: " + std::string(promise) + ": " + base::Printable(seen) + "\n";
  std::fputs(text.c_str(), stderr);
  std::abort();
}

bool IsPrintableLine(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void RequireReadable(const base::Error& error) {
  const std::string text = error.ToString();
  Require(!error.what.empty(), "an error says what is wrong", text);
  Require(IsPrintableLine(text), "an error is one printable line", text);
}

}  // namespace nccl_tune::fuzz
