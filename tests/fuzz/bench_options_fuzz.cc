// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "bench/options.h"
#include "bench/sizes.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The first line is the program's name, the next two are values of variables, each further one is a word.
void TryOne(ByteReader bytes) {
  const std::string called(bytes.Line());
  base::Environment environment;
  for (const char* name : {"NCCL_TESTS_MIN_BW", "NCCL_BENCH_TEST_CORRUPT"}) {
    const std::string_view value = bytes.Line();
    if (!value.empty()) environment.emplace(name, value);
  }
  std::vector<std::string> words;
  while (!bytes.AtEnd()) words.emplace_back(bytes.Line());
  const auto options = bench::ParseOptions(called, words, environment);
  if (!options.ok()) return RequireReadable(options.error());
  if (options->mode != bench::Mode::kMeasure) return;
  Require(options->collective != nullptr, "something is measured");
  Require(bench::CheckSweep(options->sweep).ok(), "a sweep that is taken ends");
  Require(options->iterations >= 0 && options->warmup >= 0 && options->checks >= 0, "repetitions count");
  Require(!options->types.empty() && !options->ops.empty(), "something is measured");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
