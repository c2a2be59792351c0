// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// A line is a word.
void TryOne(ByteReader bytes) {
  std::vector<std::string> words;
  while (!bytes.AtEnd()) words.emplace_back(bytes.Line());
  const auto options = cli::ParseOptions(words);
  if (!options.ok()) return RequireReadable(options.error());
  Require(options->command != cli::Command::kCapture || !options->output.empty(), "a capture has a file");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
