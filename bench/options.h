// SPDX-License-Identifier: Apache-2.0
//
// The command line of nccl-bench: nccl-tests' flags with their meaning and defaults, and some of our own. Pure.
#ifndef NCCL_TUNE_BENCH_OPTIONS_H_
#define NCCL_TUNE_BENCH_OPTIONS_H_

#include <cstdint>
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

// What is to be done: one collective's table, or the search for slow nodes (pairs, bisect).
enum class Mode { kMeasure, kPairs, kBisect, kHelp, kVersion };
enum class BackendKind { kNccl, kMpi };

// -z
enum class Blocking { kNo = 0, kWaitAndBarrier = 1, kWait = 2, kOuter = 3 };
// -a: which of the processes' times is reported.
enum class Average { kFirst = 0, kMean = 1, kLeast = 2, kGreatest = 3 };
// -R
enum class Registration { kNone = 0, kLocal = 1, kSymmetric = 2 };

// NCCL_TESTS_SPLIT and NCCL_TESTS_SPLIT_MASK: the group of process p is p OPERATION value.
struct Split {
  enum class Operation { kAnd, kOr, kModulo, kDivide };
  Operation operation = Operation::kAnd;
  std::uint64_t value = 0;  // not 0 for kModulo and kDivide
};

// For tests of the data check: one element of one rank's result is spoilt before it is looked at.
struct Corruption {
  std::uint64_t rank = 0;
  std::uint64_t offset = 0;  // element
};

struct Options {
  Mode mode = Mode::kMeasure;
  const Collective* collective = nullptr;  // set unless mode is kHelp or kVersion
  bool names_no_collective = false;        // a search that may choose it
  Sweep sweep{};                           // -b -e -i -f
  int threads = 1;                         // -t, per process
  int gpus = 1;                            // -g, per thread
  int iterations = 20;                     // -n
  int aggregated = 1;                      // -m
  int warmup = 1;                          // -w
  int cycles = 1;                          // -N; 0: for ever
  int checks = 1;                          // -c
  bool parallel_init = false;              // -p
  std::vector<DataType> types{DataType::kFloat};
  bool all_types = false;  // -d all: those that the backend cannot do are left out
  std::vector<ReduceOp> ops{ReduceOp::kSum};
  bool all_ops = false;
  std::optional<std::uint64_t> root = 0;  // -r; nothing: each rank in turn
  Blocking blocking = Blocking::kNo;
  bool null_stream = false;                         // -y
  int timeout_seconds = 0;                          // -T; 0: none
  int graph_launches = 0;                           // -G
  bool reports_cpu_time = false;                    // -C
  bool reports_timestamps = false;                  // -S
  Average average = Average::kMean;                 // -a
  Registration registration = Registration::kNone;  // -R
  std::optional<int> cta_policy{};                  // -x
  int device_implementation = 0;                    // -D
  int device_ctas = 16;                             // -V
  bool reports_memory = false;                      // -M
  std::uint64_t unaligned = 0;                      // -u, elements
  bool times_iterations = false;                    // -I
  int skipped_iterations = 0;                       // -K

  std::string json_file{};      // --json, or -J with a name in .json; empty: none
  bool json_may_fail = false;   // it is -J's: one that cannot be made is left out, as by nccl-tests
  std::string csv_file{};       // --csv
  bool files_are_made = false;  // by who has started this process: a rail's (rail_files.h)
  std::optional<BackendKind> backend{};
  bool adaptive = false;                // --adaptive: as many iterations as the confidence interval needs
  double adaptive_seconds = 10;         // --adaptive-seconds: at most, per block
  std::optional<double> least_busbw{};  // --min-busbw: the best row's busbw, GB/s
  bool per_rail = false;                // --per-rail
  bool profile = false;                 // --nvtx: ranges for a profiler
  std::string debug_file{};             // --nccl-debug FILE

  std::optional<double> least_average{};  // NCCL_TESTS_MIN_BW, GB/s
  std::optional<int> first_gpu{};         // NCCL_TESTS_DEVICE; nothing: counted from the local rank
  std::optional<Split> split{};
  Traffic traffic{};              // NCCL_TESTS_ALLTOALLV_SPREAD; a matrix is read by the program
  std::string matrix_file{};      // NCCL_TESTS_ALLTOALLV_MATRIX_FILE
  double matrix_scale = 1.0;      // NCCL_TESTS_ALLTOALLV_MATRIX_SCALE
  bool summarises_ranks = false;  // NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY
  std::optional<Corruption> corruption{};

  // Each a whole sentence for stderr: what was asked for and is left aside or changed, as nccl-tests does.
  std::vector<std::string> warnings{};
};

// `called` is the name of the program: a name such as all_reduce_perf tells the collective, else the first argument
// does. `arguments` are without it. The error names the flag, its value and the valid ones; its code is kUnsupported
// for what nccl-tests ends with 5 for (not implemented), else the run ends with 6 (wrong use).
base::Result<Options> ParseOptions(std::string_view called, const std::vector<std::string>& arguments,
                                   const base::Environment& environment);

// What --help prints.
std::string HelpText();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_OPTIONS_H_
