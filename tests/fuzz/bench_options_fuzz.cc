// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "bench/backend_choice.h"
#include "bench/options.h"
#include "bench/sizes.h"
#include "bench/split.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

using bench::Options;

void RequireSound(const Options& options) {
  Require(options.collective != nullptr, "something is measured");
  Require(bench::CheckSweep(options.sweep).ok(), "a sweep that is taken ends");
  Require(options.threads >= 1 && options.gpus >= 1, "there is a rank");
  Require(options.threads * options.gpus >= 1, "the ranks of a process can be counted");
  Require(options.iterations >= 1 && options.aggregated >= 1, "something is timed");
  Require(options.warmup >= 0 && options.checks >= 0 && options.cycles >= 0, "repetitions count");
  Require(!options.types.empty() && !options.ops.empty(), "there is something to measure with");
  Require(options.timeout_seconds >= 0 && options.adaptive_seconds > 0, "time goes forward");
  Require(options.least_busbw.value_or(0) >= 0 && options.least_average.value_or(0) >= 0, "a bound is a bandwidth");
}

void RequireSettled(const Options& options) {
  const bool replays = options.graph_launches > 0;
  Require(options.graph_launches >= 0, "launches count");
  Require(!replays || !options.times_iterations, "a graph has no single iterations");
  Require(!replays || options.blocking != bench::Blocking::kOuter, "nothing waits inside a graph");
  Require(options.skipped_iterations >= 0 && options.skipped_iterations < options.iterations, "one sample stays");
  Require(options.skipped_iterations == 0 || options.times_iterations, "samples are left out of some");
  Require(options.device_implementation == 0 || options.registration == bench::Registration::kSymmetric,
          "device kernels have windows");
  Require(options.device_ctas >= 1 && options.device_ctas <= 128, "there are CTAs");
  Require(options.traffic.spread() >= 0 && options.traffic.spread() <= 1, "the spread is a part");
  Require(options.matrix_scale >= 0, "nobody sends less than nothing");
  Require(!options.split || options.mode == bench::Mode::kMeasure, "a search has its own groups");
}

void RequireGroups(const bench::Split& split) {
  const bool divides =
      split.operation == bench::Split::Operation::kModulo || split.operation == bench::Split::Operation::kDivide;
  Require(!divides || split.value != 0, "nothing is divided by 0");
  Require(bench::GroupOf(split, 7) == bench::GroupOf(split, 7), "a process has one group");
}

// The first line is the program's name, the next two are values of variables, each further one is a word or, when it
// begins as nccl-tests' variables do, a variable and its value.
void TryOne(ByteReader bytes) {
  const std::string called(bytes.Line());
  base::Environment environment;
  for (const char* name : {"NCCL_TESTS_MIN_BW", "NCCL_BENCH_TEST_CORRUPT"}) {
    const std::string_view value = bytes.Line();
    if (!value.empty()) environment.emplace(name, value);
  }
  std::vector<std::string> words;
  while (!bytes.AtEnd()) {
    const std::string_view line = bytes.Line();
    const std::size_t equals = line.find('=');
    if (line.starts_with("NCCL_TESTS_") && equals != std::string_view::npos) {
      environment.emplace(line.substr(0, equals), line.substr(equals + 1));
    } else {
      words.emplace_back(line);
    }
  }
  auto options = bench::ParseOptions(called, words, environment);
  if (!options.ok()) return RequireReadable(options.error());
  if (options->mode == bench::Mode::kHelp || options->mode == bench::Mode::kVersion) return;
  RequireSound(*options);
  RequireSettled(*options);
  if (options->split) RequireGroups(*options->split);
  for (const auto& sentence : options->warnings) Require(IsPrintableLine(sentence), "a warning is a line", sentence);
  for (const auto& sentence : bench::LeaveAside(options.value()))
    Require(IsPrintableLine(sentence), "a note is a line", sentence);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
