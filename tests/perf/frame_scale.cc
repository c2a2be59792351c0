// SPDX-License-Identifier: Apache-2.0
//
// What the frame of nccl-bench costs process 0 of a large step: the real code over a stand-in backend whose collectives
// cost nothing. Small and large step in turns, in one run:
//   frame_scale PAIRS SMALL LARGE
// Prints JSON: CPU milliseconds of the start (gather, header, one row) and of a table of 24 rows with its JSON file, at
// both sizes (medians), the median of the pairs' ratios, and the peak memory of the whole process. What the real PMIx
// or MPI needs to carry the texts is not in it.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "bench/benchmark.h"
#include "bench/device_text.h"
#include "bench/options.h"
#include "bench/reporter.h"
#include "bench/simulated_backend.h"

namespace nccl_tune::perf {
namespace {

double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// CPU time of one run of process 0; an Error when it is not what it should be.
base::Result<double> TimeRun(std::uint64_t ranks, const std::vector<std::string>& arguments, std::size_t rows) {
  const double start = CpuMilliseconds();
  NCCL_TUNE_ASSIGN_OR_RETURN(options, bench::ParseOptions("all_reduce_perf", arguments, {}));
  bench::SimulatedBackend backend({.options = options}, {.processes = ranks, .describe = bench::DevicesToText});
  std::ostringstream out;
  bench::Reporter reporter({.out = &out, .notes = &std::cerr}, {.options = options, .program = "all_reduce_perf"});
  NCCL_TUNE_RETURN_IF_ERROR(reporter.Open());
  const auto outcome = bench::RunBenchmark({.backend = &backend, .reporter = &reporter}, options);
  if (!outcome.ok()) return outcome.error();
  NCCL_TUNE_RETURN_IF_ERROR(reporter.Finish());
  const double used = CpuMilliseconds() - start;
  if (reporter.record().rows.size() != rows || reporter.record().devices.size() != ranks) {
    return base::Error{.what = "the run has other rows or devices than it should"};
  }
  return used;
}

struct Kind {
  std::string name{};
  std::vector<std::string> arguments{};
  std::size_t rows = 0;
  std::string file{};  // removed after each run
};

base::Result<std::string> Measure(const Kind& kind, std::uint64_t pairs, std::uint64_t small, std::uint64_t large) {
  std::vector<double> smalls;
  std::vector<double> larges;
  std::vector<double> ratios;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    for (const std::uint64_t ranks : {small, large}) {
      const auto used = TimeRun(ranks, kind.arguments, kind.rows);
      if (!kind.file.empty()) unlink(kind.file.c_str());
      if (!used.ok()) return used.error();
      (ranks == small ? smalls : larges).push_back(*used);
    }
    ratios.push_back(larges.back() / smalls.back());
  }
  return "\"" + kind.name + "\": {\"small_ms\": " + std::to_string(Median(smalls)) +
         ", \"large_ms\": " + std::to_string(Median(larges)) + ", \"ratio\": " + std::to_string(Median(ratios)) + "}";
}

int Main(const std::vector<std::string>& words) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : words) {
    const auto number = base::ParseInteger<std::uint64_t>(word);
    if (number.ok() && *number > 0) numbers.push_back(*number);
  }
  if (numbers.size() != 3 || words.size() != 3 || numbers[1] >= numbers[2]) {
    std::cerr << "usage: frame_scale PAIRS SMALL LARGE, all above 0, SMALL below LARGE\n";
    return 2;
  }
  const char* const wanted = std::getenv("TMPDIR");
  const std::string file =
      std::string(wanted != nullptr ? wanted : "/tmp") + "/frame_scale." + std::to_string(getpid());
  const std::vector<Kind> kinds = {
      {.name = "start", .arguments = {"-b", "8", "-e", "8", "-n", "1", "-w", "0", "-c", "0"}, .rows = 1},
      {.name = "table",
       .arguments = {"-b", "8", "-e", "64M", "-f", "2", "-n", "1", "-w", "0", "-c", "0", "--json", file},
       .rows = 24,
       .file = file},
  };
  std::string text = "{\"pairs\": " + words[0] + ", \"small\": " + words[1] + ", \"large\": " + words[2];
  for (const Kind& kind : kinds) {
    const auto measured = Measure(kind, numbers[0], numbers[1], numbers[2]);
    if (!measured.ok()) {
      std::cerr << "frame_scale: " << measured.error().ToString() << "\n";
      return 1;
    }
    text += ", " + *measured;
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::cout << text << ", \"peak_mib\": " << static_cast<double>(use.ru_maxrss) / 1024 << "}\n";
  return 0;
}

}  // namespace
}  // namespace nccl_tune::perf

int main(int argc, char** argv) { return nccl_tune::perf::Main({argv + 1, argv + argc}); }
