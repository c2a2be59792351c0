// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of `nccl-tune env --root TREE` and of an empty program, in turns: what the first takes more, as the median
// over the pairs. Prints JSON.
//   paired_process PAIRS NCCL_TUNE EMPTY_PROGRAM
//
// Peak memory is the kernel's ru_maxrss. A new program starts at the peak of the one that spawned it, so this one stays
// small, and its own peak is printed as the floor.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "tests/perf/machine_layout.h"

namespace nccl_tune::perf {
namespace {

constexpr Shape kShape{.hcas = 8, .gid_entries = 16, .filled = 4};  // as drivers fill them

struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;  // user and system
  double peak_mib = 0;
};

double WallMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double Milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

// One whole run, its standard output thrown away, its environment empty.
base::Result<Cost> Run(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  char* no_environment[] = {nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const double start = WallMilliseconds();
  const int failed = posix_spawn(&child, words[0], &actions, nullptr, words.data(), no_environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return base::Error{.what = "cannot be started", .where = command[0]};
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const double wall = WallMilliseconds() - start;
  if (status != 0) return base::Error{.what = "ended with status " + std::to_string(status), .where = command[0]};
  return Cost{.wall_ms = wall,
              .cpu_ms = Milliseconds(usage.ru_utime) + Milliseconds(usage.ru_stime),
              .peak_mib = static_cast<double>(usage.ru_maxrss) / 1024};
}

double Median(const std::vector<Cost>& costs, double Cost::*part) {
  std::vector<double> values;
  for (const auto& cost : costs) values.push_back(cost.*part);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Print(const char* key, const std::vector<Cost>& costs, const char* end) {
  std::printf("\"%s\": {\"wall_ms\": %.3f, \"cpu_ms\": %.3f, \"peak_mib\": %.2f}%s", key, Median(costs, &Cost::wall_ms),
              Median(costs, &Cost::cpu_ms), Median(costs, &Cost::peak_mib), end);
}

base::Status MeasurePairs(int pairs, const std::string& program, const std::string& empty) {
  NCCL_TUNE_ASSIGN_OR_RETURN(folder, TemporaryFolder::Make());
  NCCL_TUNE_RETURN_IF_ERROR(LayOutMachine(folder.path(), kShape));
  const std::vector<std::string> ours = {program, "env", "--root", folder.path()};
  std::vector<Cost> program_costs;
  std::vector<Cost> empty_costs;
  std::vector<Cost> differences;
  for (int i = 0; i < pairs; ++i) {
    NCCL_TUNE_ASSIGN_OR_RETURN(empty_cost, Run({empty}));
    NCCL_TUNE_ASSIGN_OR_RETURN(cost, Run(ours));
    empty_costs.push_back(empty_cost);
    program_costs.push_back(cost);
    differences.push_back({.wall_ms = cost.wall_ms - empty_cost.wall_ms,
                           .cpu_ms = cost.cpu_ms - empty_cost.cpu_ms,
                           .peak_mib = cost.peak_mib - empty_cost.peak_mib});
  }
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  std::printf("{\"pairs\": %d, ", pairs);
  Print("program", program_costs, ", ");
  Print("empty", empty_costs, ", ");
  Print("difference", differences, ", ");
  std::printf("\"floor_mib\": %.2f}\n", static_cast<double>(own.ru_maxrss) / 1024);
  return base::Ok();
}

int Main(int argc, char** argv) {
  const auto pairs = argc == 4 ? base::ParseInteger<int>(argv[1]) : base::Result<int>(0);
  if (!pairs.ok() || *pairs < 1) {
    std::fputs("usage: paired_process PAIRS NCCL_TUNE EMPTY_PROGRAM\n", stderr);
    return 2;
  }
  const auto done = MeasurePairs(*pairs, argv[2], argv[3]);
  if (done.ok()) return 0;
  std::fprintf(stderr, "paired_process: %s\n", done.error().ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace nccl_tune::perf

int main(int argc, char** argv) { return nccl_tune::perf::Main(argc, argv); }
