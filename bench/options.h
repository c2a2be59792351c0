// SPDX-License-Identifier: Apache-2.0
//
// The command line of nccl-bench: nccl-tests' flags with their meaning and defaults, and few of our own. Pure. A flag
// of nccl-tests that is not yet built is accepted with its default and refused with any other value.
#ifndef NCCL_TUNE_BENCH_OPTIONS_H_
#define NCCL_TUNE_BENCH_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/collective.h"
#include "bench/sizes.h"
#include "bench/types.h"

namespace nccl_tune::bench {

enum class Mode { kMeasure, kHelp, kVersion };
enum class BackendKind { kNccl, kMpi };

// For tests of the data check: one element of one rank's result is spoilt before it is looked at.
struct Corruption {
  std::uint64_t rank = 0;
  std::uint64_t offset = 0;  // element
};

struct Options {
  Mode mode = Mode::kMeasure;
  const Collective* collective = nullptr;  // set when mode is kMeasure
  Sweep sweep{};
  int iterations = 20;
  int warmup = 1;
  int checks = 1;
  int gpus = 1;
  std::vector<DataType> types{DataType::kFloat};
  std::vector<ReduceOp> ops{ReduceOp::kSum};
  std::optional<BackendKind> backend{};     // forced
  std::optional<double> least_bandwidth{};  // NCCL_TESTS_MIN_BW, GB/s
  std::optional<Corruption> corruption{};   // NCCL_BENCH_TEST_CORRUPT=RANK:OFFSET
};

// `called` is the name of the program: a name such as all_reduce_perf tells the collective, else the first argument
// does. `arguments` are without it. The error names the flag, its value and the valid ones.
base::Result<Options> ParseOptions(std::string_view called, const std::vector<std::string>& arguments,
                                   const base::Environment& environment);

// What --help prints.
std::string HelpText();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_OPTIONS_H_
