// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/options.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A line is a word.
void TryOne(ByteReader bytes) {
  std::vector<std::string> words;
  while (!bytes.AtEnd()) words.emplace_back(bytes.Line());
  const auto options = launcher::ParseOptions(words);
  if (!options.ok()) return RequireReadable(options.error());
  Require(options->mode != launcher::Mode::kLaunch || !options->program.empty(), "a program is launched");
  const auto ahead = [](const auto& time) { return !time || time->count() > 0; };
  Require(options->start_limit.count() > 0 && ahead(options->timeout) && ahead(options->no_output),
          "a deadline is ahead");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
