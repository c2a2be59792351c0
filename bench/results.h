// SPDX-License-Identifier: Apache-2.0
//
// What a run has measured, as plain values: stdout, JSON and CSV are made from it. Pure.
#ifndef NCCL_TUNE_BENCH_RESULTS_H_
#define NCCL_TUNE_BENCH_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"

namespace nccl_tune::bench {

// One GPU (or, for host memory, one rank) as the header lists it.
struct Device {
  std::uint64_t rank = 0;  // over all groups
  std::uint64_t group = 0;
  int process_id = 0;
  std::string host{};
  int index = 0;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  std::string name{};
};

// Times of single iterations (-I), each the longest over all GPUs and processes; all in seconds.
struct IterationTimes {
  int skipped = 0;
  double least = 0;
  double greatest = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double deviation = 0;
  std::vector<double> times{};                     // the skipped ones too
  std::vector<std::vector<double>> per_process{};  // empty with one process
};

// What --adaptive found out about one block.
struct Spread {
  std::uint64_t samples = 0;
  double median = 0;  // seconds
  double p99 = 0;
  double low = 0;  // bounds of the median's 95 % confidence interval
  double high = 0;
  bool settled = false;  // the interval is under 1 % of the median; else time was up
};

// Result of one size, out of place or in place.
struct Block {
  double microseconds = 0;         // time, or CPU time with -C
  double algorithm_bandwidth = 0;  // GB/s
  double bus_bandwidth = 0;        // GB/s
  std::optional<double> wrong{};   // elements over all ranks; nothing without a check
  std::optional<IterationTimes> iterations{};
  std::optional<Spread> spread{};
};

struct Row {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::string type{};
  std::string op{};  // as in the column: empty for hypercube
  int root = -1;     // -1: there is none
  Block out_of_place{};
  Block in_place{};
  bool has_in_place = true;  // false: the run ended between the two blocks
  std::string timestamp{};   // "2026-12-01 10:00:00", local time
};

struct Record {
  Options options{};
  std::string program{};                   // "all_reduce_perf"
  std::vector<std::string> arguments{};    // the command line, program first
  std::vector<std::string> environment{};  // "NAME=value", only what may be shown
  std::string own_version{};               // "nccl-bench 0.1.0"
  std::string backend{};                   // label
  int headers_code = 0;
  int library_code = 0;
  std::string start_time{};
  std::string end_time{};    // empty: it has not ended yet
  bool ended_early = false;  // by `errors`: there is no average of all rows then
  std::vector<Device> devices{};
  std::vector<Row> rows{};
  double best_bus_bandwidth = 0;  // of the rows that were not kept
  std::uint64_t wrong = 0;
  double average_bus_bandwidth = 0;
  std::optional<bool> enough{};       // of NCCL_TESTS_MIN_BW; nothing: unchecked
  std::vector<std::string> errors{};  // what ended the run early, NCCL's last words
  std::vector<std::string> verdicts{};
  std::vector<std::string> doubts{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RESULTS_H_
