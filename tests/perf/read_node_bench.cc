// SPDX-License-Identifier: Apache-2.0
//
// CPU time from a machine's files to a plan, in one process with start-up left out, against the bare reading of the
// same files in the same run. The two take turns, so that whatever else the machine does meets both.
#include <benchmark/benchmark.h>
#include <fcntl.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/policy/situation.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "tests/perf/machine_layout.h"
#include "tests/perf/recorded_reads.h"

namespace nccl_tune::perf {
namespace {

// A machine on disk, and what reading it once showed.
struct Machine {
  TemporaryFolder folder;
  hw::IpFacts ip;
  std::vector<std::string> paths;
  std::size_t bytes = 0;
};

base::Result<env::Plan> MakePlanOf(const hw::Tree& tree, const hw::IpFacts& ip) {
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(tree, ip, std::nullopt));
  return env::MakePlan("bench", policy::Assess(node), {});
}

base::Result<Machine> MakeMachine(const Shape& shape) {
  NCCL_TUNE_ASSIGN_OR_RETURN(folder, TemporaryFolder::Make());
  NCCL_TUNE_RETURN_IF_ERROR(LayOutMachine(folder.path(), shape));
  NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open(folder.path()));
  std::vector<facts::Note> notes;
  auto ip = hw::ReadIpFiles(*tree, &notes);
  const RecordingTree recording(*tree);
  NCCL_TUNE_ASSIGN_OR_RETURN(plan, MakePlanOf(recording, ip));
  if (plan.ports.size() != static_cast<std::size_t>(shape.hcas)) {
    return base::Error{.what = "the plan of the laid out machine takes " + std::to_string(plan.ports.size()) +
                               " ports, expected " + std::to_string(shape.hcas)};
  }
  return Machine{
      .folder = std::move(folder), .ip = std::move(ip), .paths = recording.paths(), .bytes = recording.bytes()};
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// CPU seconds of both sides of one pair.
struct Pair {
  double ours = 0;
  double bare = 0;
};

// What one iteration of the benchmark does; fails when a side did not do its work.
base::Result<Pair> MeasurePair(const Machine& machine, int bare_root) {
  Pair out;
  double start = CpuSeconds();
  const std::size_t bytes = ReadBare(bare_root, machine.paths);
  out.bare = CpuSeconds() - start;
  if (bytes != machine.bytes) return base::Error{.what = "the bare loop read other files than we"};
  NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open(machine.folder.path()));
  start = CpuSeconds();
  auto plan = MakePlanOf(*tree, machine.ip);
  out.ours = CpuSeconds() - start;
  if (!plan.ok()) return plan.error();
  benchmark::DoNotOptimize(plan);
  return out;
}

void BM_ReadNode(benchmark::State& state, const Shape& shape) {
  const auto machine = MakeMachine(shape);
  if (!machine.ok()) return state.SkipWithError(machine.error().ToString().c_str());
  const hw::Descriptor root(open(machine->folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<double> ours;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (auto _ : state) {
    const auto pair = MeasurePair(*machine, root.get());
    if (!pair.ok()) return state.SkipWithError(pair.error().ToString().c_str());
    state.SetIterationTime(pair->ours);
    ours.push_back(pair->ours * 1e3);
    bare.push_back(pair->bare * 1e3);
    ratios.push_back(pair->ours / pair->bare);
  }
  state.counters["files"] = static_cast<double>(machine->paths.size());
  state.counters["cpu_ms"] = Median(ours);
  state.counters["bare_ms"] = Median(bare);
  state.counters["ratio"] = Median(ratios);
}

// Tables as drivers fill them, and tables without an empty slot.
BENCHMARK_CAPTURE(BM_ReadNode, 8x16, Shape{.hcas = 8, .gid_entries = 16, .filled = 4})->UseManualTime();
BENCHMARK_CAPTURE(BM_ReadNode, 8x16_full, Shape{.hcas = 8, .gid_entries = 16, .filled = 16})->UseManualTime();
BENCHMARK_CAPTURE(BM_ReadNode, 42x256, Shape{.hcas = 42, .gid_entries = 256, .filled = 4})->UseManualTime();
BENCHMARK_CAPTURE(BM_ReadNode, 42x256_full, Shape{.hcas = 42, .gid_entries = 256, .filled = 256})->UseManualTime();

}  // namespace
}  // namespace nccl_tune::perf

BENCHMARK_MAIN();
