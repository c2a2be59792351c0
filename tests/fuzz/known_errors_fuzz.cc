// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/known_errors.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The last lines of a program.
void TryOne(ByteReader bytes) {
  std::vector<std::string> lines;
  while (!bytes.AtEnd()) lines.emplace_back(bytes.Line());
  const auto found = launcher::ExplainLines(lines);
  Require(found.size() <= 3, "at most three explanations");
  std::set<const launcher::KnownError*> once;
  for (const auto& one : found) {
    Require(one.error != nullptr && one.line < lines.size(), "an explanation is of one of the lines");
    Require(once.insert(one.error).second, "each explanation once", one.error->id);
    Require(found.front().error <= one.error, "those that say most first", one.error->id);
    Require(one.error->general == found.front().error->general, "what only follows never stands beside a cause");
  }
  for (const auto& line : lines) {
    for (const std::string_view whole : {"", "*", "***"}) {
      Require(launcher::MatchesPattern(line, whole), "an empty pattern matches", line);
    }
    const bool star = line.find('*') != std::string::npos;
    Require(star || launcher::MatchesPattern(line, line), "text matches itself", line);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
