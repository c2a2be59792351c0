// SPDX-License-Identifier: Apache-2.0
#include "bench/doubts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "bench/verdict.h"
#include "core/facts/number_text.h"
#include "core/facts/pci_address.h"

namespace nccl_tune::bench {
namespace {

using Lines = std::vector<std::string>;

constexpr double kPrimingCalls = 2;  // before the clock, of each block

// One decimal: "2.5".
std::string Short(double value) { return facts::NumberText(std::round(value * 10) / 10); }

std::string Percent(double part) { return Short(100 * part) + " %"; }

std::string MegaHertz(std::uint64_t kilo_hertz) { return std::to_string(kilo_hertz / 1000) + " MHz"; }

void AddClocks(const NodeDoubts& facts, Lines* out) {
  std::size_t held = 0;
  std::size_t saving = 0;
  const CpuClock* lowest = nullptr;
  for (const CpuClock& clock : facts.after.clocks) {
    const bool has_both = clock.limit && clock.highest && *clock.highest > 0;
    if (has_both && static_cast<double>(*clock.limit) < kLeastClock * static_cast<double>(*clock.highest)) {
      ++held;
      if (lowest == nullptr || *clock.limit < *lowest->limit) lowest = &clock;
    }
    // With these two drivers "powersave" is the usual one and follows the load.
    const bool follows = clock.driver.starts_with("intel_pstate") || clock.driver.starts_with("amd-pstate");
    saving += clock.governor == "powersave" && !follows ? 1 : 0;
  }
  if (held > 0) {
    out->push_back("the clock of " + std::to_string(held) + " of " + std::to_string(facts.after.clocks.size()) +
                   " groups of cores is limited to " + MegaHertz(*lowest->limit) + " of " +
                   MegaHertz(*lowest->highest) + " (scaling_max_freq): `cpupower frequency-set -u` lifts it");
  }
  if (saving > 0) {
    out->push_back("the governor of " + std::to_string(saving) +
                   " groups of cores is powersave, their lowest clock: `cpupower frequency-set -g performance`");
  }
}

void AddThrottling(const NodeDoubts& facts, Lines* out) {
  if (!facts.before.throttles || !facts.after.throttles || *facts.after.throttles <= *facts.before.throttles) return;
  out->push_back("cores were slowed down for heat " + std::to_string(*facts.after.throttles - *facts.before.throttles) +
                 " times during the run: look at the cooling and measure again");
}

void AddLoad(const NodeDoubts& facts, Lines* out) {
  if (facts.busy_threads > facts.usable_cores) {
    out->push_back(std::to_string(facts.busy_threads) + " ranks or threads share " +
                   std::to_string(facts.usable_cores) + (facts.usable_cores == 1 ? " core" : " cores") +
                   " and wait for each other: give each its own (--cpus-per-task, fewer --ntasks-per-node)");
    return;  // the load follows from it
  }
  const auto own = static_cast<double>(facts.busy_threads);
  if (facts.after.load && *facts.after.load > kLoadFactor * own + kFreeLoad) {
    out->push_back("the load is " + Short(*facts.after.load) + " with " + std::to_string(facts.busy_threads) +
                   " busy threads of this run: others use the node too, or did a minute ago (--exclusive)");
  }
}

const LinkBytes* Find(const std::vector<LinkBytes>& links, const std::string& name) {
  const auto found = std::find_if(links.begin(), links.end(), [&](const auto& l) { return l.link == name; });
  return found == links.end() ? nullptr : &*found;
}

std::string Gigabytes(double bytes) { return Short(bytes / 1e9) + " GB"; }

void AddTraffic(const NodeDoubts& facts, Lines* out) {
  if (!facts.own_bytes || !std::isfinite(*facts.own_bytes)) return;
  for (const LinkBytes& after : facts.after.links) {
    const LinkBytes* before = Find(facts.before.links, after.link);
    // A counter that went back was reset, or is of an interface that is not the same any more.
    if (before == nullptr || after.sent < before->sent || after.received < before->received) continue;
    const auto sent = static_cast<double>(after.sent - before->sent);
    const auto received = static_cast<double>(after.received - before->received);
    const double most = std::max(sent, received);
    if (most <= kOwnTrafficFactor * *facts.own_bytes + kFreeTraffic) continue;
    out->push_back(after.link + " has " + (sent >= received ? "sent " : "received ") + Gigabytes(most) +
                   " during the run, which itself moves " + Gigabytes(*facts.own_bytes) +
                   " at most: other traffic shares the link. Measure when it is quiet");
  }
}

std::string NameOf(const GpuState& gpu) { return "GPU " + gpu.pci.ToString(); }

const GpuState* Find(const std::vector<GpuState>& gpus, const GpuState& like) {
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const auto& g) { return g.pci == like.pci; });
  return found == gpus.end() ? nullptr : &*found;
}

bool IsOwn(const NodeDoubts& facts, std::int64_t process) {
  return std::find(facts.own_processes.begin(), facts.own_processes.end(), process) != facts.own_processes.end();
}

// NVML numbers processes as the host does. In a container ours have other numbers there and here, so where none of
// ours is seen nothing can be told.
bool CanTellProcesses(const NodeDoubts& facts) {
  return std::any_of(facts.after.gpus.begin(), facts.after.gpus.end(), [&](const GpuState& gpu) {
    return std::any_of(gpu.processes.begin(), gpu.processes.end(), [&](auto p) { return IsOwn(facts, p); });
  });
}

void AddOthersOf(const NodeDoubts& facts, const GpuState& gpu, Lines* out) {
  std::string others;
  std::size_t count = 0;
  for (const std::int64_t process : gpu.processes) {
    if (IsOwn(facts, process)) continue;
    if (++count <= 3) others += (count == 1 ? "" : ", ") + std::to_string(process);
  }
  if (count == 0) return;
  if (count > 3) others += ", ...";
  out->push_back(NameOf(gpu) + " is used by " + std::to_string(count) + " other " +
                 (count == 1 ? "process" : "processes") + " too (" + others +
                 "): `nvidia-smi` shows what they are; measure when they are gone");
}

struct Reason {
  std::uint64_t bit;
  std::string_view what;
};
// nvmlClocksThrottleReason*. Left out: idle, clocks that a user has set, and the power cap, which a GPU under full load
// reaches all the time; how long it was held tells more.
constexpr std::array<Reason, 4> kReasons = {{{0x08, "hardware slowdown"},
                                             {0x20, "software thermal slowdown"},
                                             {0x40, "hardware thermal slowdown"},
                                             {0x80, "power brake"}}};

void AddGpuClocks(const NodeDoubts& facts, const GpuState& gpu, Lines* out) {
  std::string why;
  for (const Reason& reason : kReasons) {
    if ((gpu.throttle_reasons & reason.bit) != 0) why += (why.empty() ? "" : ", ") + std::string(reason.what);
  }
  if (!why.empty()) {
    const bool has_clocks = gpu.clock && gpu.highest_clock;
    out->push_back(
        NameOf(gpu) + " is slowed down (" + why + ")" +
        (has_clocks ? ": " + std::to_string(*gpu.clock) + " of " + std::to_string(*gpu.highest_clock) + " MHz" : "") +
        ". `nvidia-smi -q -d PERFORMANCE` tells more");
  }
  const GpuState* before = Find(facts.before.gpus, gpu);
  if (before == nullptr || !(facts.seconds > 0)) return;
  const auto add = [&](const auto& from, const auto& to, const char* cause) {
    if (!from || !to || *to < *from) return;
    const double part = static_cast<double>(*to - *from) * 1e-9 / facts.seconds;
    if (part <= kMostHeld) return;
    out->push_back(NameOf(gpu) + " was slowed down for " + cause + " during " + Percent(std::min(part, 1.0)) +
                   " of the run: `nvidia-smi -q -d PERFORMANCE` tells more");
  };
  add(before->power_held, gpu.power_held, "power");
  add(before->thermal_held, gpu.thermal_held, "heat");
}

// The worst of all rows of something that is better when small.
struct Worst {
  double value = 0;
  std::uint64_t bytes = 0;
  std::size_t rows = 0;  // over the limit

  void Look(double seen, double limit, std::uint64_t at) {
    if (!std::isfinite(seen) || seen <= limit) return;
    ++rows;
    if (seen > value) {
      value = seen;
      bytes = at;
    }
  }
  std::string Place() const {
    return "at " + SizeText(bytes) + (rows > 1 ? " (and less so in " + std::to_string(rows - 1) + " more)" : "");
  }
};

void AddNoise(const std::vector<Row>& rows, Lines* out) {
  Worst unsettled;
  Worst tail;
  Worst deviation;
  for (const Row& row : rows) {
    for (const Block* block : {&row.out_of_place, &row.in_place}) {
      if (block->spread && block->spread->median > 0) {
        const Spread& spread = *block->spread;
        if (!spread.settled) unsettled.Look((spread.high - spread.low) / spread.median, kMostUnsettled, row.bytes);
        tail.Look(spread.p99 / spread.median, kMostTail, row.bytes);
      }
      if (block->iterations && block->iterations->mean > 0) {
        deviation.Look(block->iterations->deviation / block->iterations->mean, kMostDeviation, row.bytes);
      }
    }
  }
  if (unsettled.rows > 0) {
    out->push_back(unsettled.Place() + " the median is known to " + Percent(unsettled.value) +
                   " only when time was up: --adaptive-seconds gives it more, --exclusive quiet");
  }
  if (tail.rows > 0) {
    out->push_back(tail.Place() + " one call in a hundred takes " + Short(tail.value) +
                   " times the median or more: something interrupts the ranks or the network drops packets");
  }
  if (deviation.rows > 0) {
    out->push_back(deviation.Place() + " times scatter by " + Percent(deviation.value) +
                   " (standard deviation of the mean): more iterations (-n) or --adaptive give a firmer number");
  }
}

void AddDrift(const std::vector<Row>& rows, Lines* out) {
  std::map<std::tuple<std::uint64_t, std::string, std::string, int>, std::pair<const Row*, const Row*>> ends;
  for (const Row& row : rows) {
    auto& pair = ends[{row.bytes, row.type, row.op, row.root}];
    if (pair.first == nullptr) pair.first = &row;
    pair.second = &row;
  }
  Worst drift;
  bool is_slower = false;
  for (const auto& [key, pair] : ends) {
    const double first = pair.first->out_of_place.microseconds;
    const double last = pair.second->out_of_place.microseconds;
    if (!(first > 0) || !(last > 0)) continue;
    const double seen = std::max(first, last) / std::min(first, last) - 1;
    const double before = drift.value;
    drift.Look(seen, kMostDrift, std::get<0>(key));
    if (drift.value > before) is_slower = last > first;
  }
  if (drift.rows == 0) return;
  out->push_back(drift.Place() + " the last cycle is " + Percent(drift.value) + (is_slower ? " slower" : " faster") +
                 " than the first: " +
                 (is_slower ? "the machine heats up or others have come" : "it had not warmed up, -w raises that"));
}

}  // namespace

std::vector<std::string> FindNodeDoubts(const NodeDoubts& facts) {
  Lines out;
  if (facts.host_memory) {
    AddClocks(facts, &out);
    AddLoad(facts, &out);
  }
  AddThrottling(facts, &out);
  AddTraffic(facts, &out);
  const bool tells = CanTellProcesses(facts);
  for (const GpuState& gpu : facts.after.gpus) {
    if (tells) AddOthersOf(facts, gpu, &out);
    AddGpuClocks(facts, gpu, &out);
  }
  for (std::string& line : out) line = base::Printable(facts.node) + ": " + line;
  return out;
}

std::optional<double> OwnBytes(const Record& record, const Places& places) {
  const Options& options = record.options;
  const bool by_matrix = options.collective != nullptr && options.collective->kind == CollectiveKind::kAlltoallv &&
                         (options.traffic.is_matrix() || !options.matrix_file.empty());
  if (options.collective == nullptr || by_matrix) return std::nullopt;
  const double at_once = std::max(1, options.aggregated) * std::max(1.0, static_cast<double>(options.graph_launches));
  const double extra = std::max(0, options.warmup) + std::max(0, options.checks) + kPrimingCalls;
  double out = 0;
  for (const Row& row : record.rows) {
    double calls = 2 * extra;
    for (const Block* block : {&row.out_of_place, &row.in_place}) {
      // Up to half of the samples were left out as warm-up.
      const double timed = block->spread ? 2 * static_cast<double>(block->spread->samples)
                                         : static_cast<double>(std::max(0, options.iterations));
      calls += timed * at_once;
    }
    out += calls * MostBytesLeaving(options.collective->kind, places, static_cast<double>(row.bytes));
  }
  return out;
}

std::vector<std::string> FindRowDoubts(const std::vector<Row>& rows) {
  Lines out;
  AddNoise(rows, &out);
  AddDrift(rows, &out);
  return out;
}

}  // namespace nccl_tune::bench
