// SPDX-License-Identifier: Apache-2.0
//
// The preflight of rank 0 at the size of the largest clusters: what the nodes put, read, compared and rendered by the
// code that the launcher runs, over a stand-in for PMIx that holds each rank's text. What the real PMIx needs to carry
// the text is not in it. And the CPU time that one node needs for its own entry.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "launcher/preflight.h"
#include "launcher/read_entry.h"
#include "launcher/test_entries.h"
#include "tests/perf/machine_layout.h"

namespace nccl_tune::perf {
namespace {

using launcher::NodeEntry;

constexpr std::uint32_t kRanksPerNode = 8;

// What a PMIx server holds after the fence.
class ServerStandIn {
 public:
  void Put(std::uint32_t rank, std::string text) { texts_[rank] = std::move(text); }

  base::Result<std::string> Get(std::uint32_t rank) const {
    const auto found = texts_.find(rank);
    if (found != texts_.end()) return found->second;
    return base::Error{.code = base::Code::kNotFound, .what = "rank " + std::to_string(rank) + " put nothing"};
  }

 private:
  std::unordered_map<std::uint32_t, std::string> texts_;
};

enum class Nodes { kAlike, kOneInHundredOdd, kAllDifferent };

void MakeOdd(std::uint32_t number, NodeEntry* entry) {
  const std::string own = std::to_string(number);
  entry->version += "." + own;
  entry->nccl = "2.28." + own;
  entry->driver = "570." + own;
  entry->gpu_model = "model " + own;
  entry->gpus = number;
  entry->planned_values["NCCL_IB_TC"] = std::to_string(number % 256);
  for (const char* name : {"NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT", "NCCL_ALGO", "NCCL_DEBUG"})
    entry->user_values[name] = own;
  for (auto& rail : entry->rails) {
    rail.gbps = number;
    rail.mtu = static_cast<int>(number);
    rail.families = number % 2 == 0 ? "46" : "64";
  }
  entry->rails.erase(entry->rails.begin() + number % 8);
  entry->layout[number % 8] = 'd';
  entry->network = "10." + std::to_string(number / 256 % 256) + "." + std::to_string(number % 256) + ".0/24";
}

struct Step {
  ServerStandIn server;
  std::size_t bytes = 0;
};

Step MakeStep(std::uint32_t count, Nodes nodes) {
  Step out;
  for (std::uint32_t number = 1; number <= count; ++number) {
    NodeEntry entry = launcher::MakeTestEntry(number);
    if (nodes == Nodes::kAllDifferent || (nodes == Nodes::kOneInHundredOdd && number % 100 == 0))
      MakeOdd(number, &entry);
    std::string text = launcher::EncodeEntry(entry);
    out.bytes += text.size();
    out.server.Put((number - 1) * kRanksPerNode, std::move(text));
  }
  return out;
}

// What rank 0 does between the two fences.
base::Result<launcher::Verdict> JudgeStep(const ServerStandIn& server, std::uint32_t count) {
  std::vector<NodeEntry> entries;
  entries.reserve(count);
  for (std::uint32_t node = 0; node < count; ++node) {
    NCCL_TUNE_ASSIGN_OR_RETURN(text, server.Get(node * kRanksPerNode));
    NCCL_TUNE_ASSIGN_OR_RETURN(entry, launcher::DecodeNodeEntry(text));
    entries.push_back(std::move(entry));
  }
  return launcher::Judge(entries, {}, launcher::Preflight::kWarn);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void BM_Preflight(benchmark::State& state, Nodes nodes) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  const Step step = MakeStep(count, nodes);
  double total = 0;
  std::size_t lines = 0;
  std::size_t agreement = 0;
  for (auto _ : state) {
    const double start = CpuSeconds();
    const auto verdict = JudgeStep(step.server, count);
    if (!verdict.ok()) return state.SkipWithError(verdict.error().ToString().c_str());
    agreement = launcher::EncodeAgreement(verdict->agreement).size();
    const double used = CpuSeconds() - start;
    state.SetIterationTime(used);
    total += used;
    lines = verdict->lines.size();
  }
  if ((lines == 0) != (nodes == Nodes::kAlike)) return state.SkipWithError("the verdict has the wrong lines");
  const auto runs = static_cast<double>(state.iterations());
  state.counters["bytes_per_node"] = static_cast<double>(step.bytes) / count;
  state.counters["cpu_ms"] = total * 1e3 / runs;
  state.counters["us_per_node"] = total * 1e6 / runs / count;
  state.counters["lines"] = static_cast<double>(lines);
  state.counters["agreement_bytes"] = static_cast<double>(agreement);
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1024)->Arg(4096)->Arg(16'384)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(BM_Preflight, alike, Nodes::kAlike)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Preflight, odd_1_percent, Nodes::kOneInHundredOdd)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Preflight, all_different, Nodes::kAllDifferent)->Apply(Sizes);

// One node's own entry, from files on tmpfs.
void BM_OwnEntry(benchmark::State& state) {
  auto folder = TemporaryFolder::Make();
  if (!folder.ok()) return state.SkipWithError(folder.error().ToString().c_str());
  const auto laid = LayOutMachine(folder->path(), {.hcas = 8, .gid_entries = 16, .filled = 4});
  const auto tree = hw::DirectoryTree::Open(folder->path());
  if (!laid.ok() || !tree.ok()) return state.SkipWithError("the machine cannot be laid out");
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(**tree, &notes);
  for (auto _ : state) {
    auto own = launcher::ReadOwnNode(**tree, ip, {.node = "bench"}, {});
    if (own.entry.rails.size() != 8) return state.SkipWithError("the entry has other rails than the machine");
    benchmark::DoNotOptimize(launcher::EncodeEntry(own.entry));
  }
}
BENCHMARK(BM_OwnEntry)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nccl_tune::perf

BENCHMARK_MAIN();
