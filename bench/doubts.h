// SPDX-License-Identifier: Apache-2.0
//
// Reasons not to trust a number: what else the machine did while it was measured. One line each: what was seen, its
// value, what to do. Pure; doubt_facts.h reads. The lines are for stderr and the JSON file and keep to the words that
// verdict.h allows.
#ifndef NCCL_TUNE_BENCH_DOUBTS_H_
#define NCCL_TUNE_BENCH_DOUBTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/expectation.h"
#include "bench/results.h"
#include "core/facts/pci_address.h"

namespace nccl_tune::bench {

// Cores that change their clock together (cpufreq policy). kHz.
struct CpuClock {
  std::string name{};  // "policy0"
  std::string governor{};
  std::string driver{};
  std::optional<std::uint64_t> limit{};    // scaling_max_freq
  std::optional<std::uint64_t> highest{};  // cpuinfo_max_freq
};

// Counters of a link since it came up, in bytes.
struct LinkBytes {
  std::string link{};  // "mlx5_7:1", "eno1"
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

struct GpuState {
  facts::PciAddress pci{};
  std::vector<std::int64_t> processes{};  // with a compute context, ours too
  std::optional<unsigned> clock{};        // SM, MHz
  std::optional<unsigned> highest_clock{};
  std::uint64_t throttle_reasons = 0;           // bits as NVML has them
  std::optional<std::uint64_t> power_held{};    // nanoseconds that it was slowed down for power, since some beginning
  std::optional<std::uint64_t> thermal_held{};  // for heat
};

// One node at one moment.
struct Snapshot {
  std::vector<CpuClock> clocks{};
  std::optional<std::uint64_t> throttles{};  // times that cores were slowed down for heat, since boot
  std::optional<double> load{};              // of the last minute
  std::vector<LinkBytes> links{};
  std::vector<GpuState> gpus{};  // those of the run, or all where none are known
};

struct NodeDoubts {
  std::string node{};  // its name, in front of each line
  Snapshot before{};
  Snapshot after{};
  double seconds = 0;  // between the two
  bool host_memory = false;
  std::uint64_t busy_threads = 1;             // of all ranks of the node, each of which keeps a core busy
  std::uint64_t usable_cores = 1;             // of those threads together
  std::optional<double> own_bytes{};          // that the run sends from this node, at most; nothing: not known
  std::vector<std::int64_t> own_processes{};  // of the run, this node's
};

// Of one node, by the first process there.
std::vector<std::string> FindNodeDoubts(const NodeDoubts& facts);

// Bytes that the run has sent from a node, at most; nothing where that is not known (a matrix of alltoallv).
std::optional<double> OwnBytes(const Record& record, const Places& places);

// Of the numbers themselves: noise, and the same size that is slower or faster later on.
std::vector<std::string> FindRowDoubts(const std::vector<Row>& rows);

// Limits. Less is usual on a quiet machine.
inline constexpr double kMostUnsettled = 0.01;  // width of the median's interval, in parts of it
inline constexpr double kMostTail = 3;          // p99 over the median
inline constexpr double kMostDeviation = 0.25;  // standard deviation over the mean
inline constexpr double kMostDrift = 0.10;      // between the first and the last row of a size
inline constexpr double kLoadFactor = 1.5;      // of the busy threads, and this much besides:
inline constexpr double kFreeLoad = 2;
inline constexpr double kLeastClock = 0.9;        // of the highest
inline constexpr double kMostHeld = 0.05;         // of the time slowed down
inline constexpr double kOwnTrafficFactor = 2;    // counters over what the run sends at most
inline constexpr double kFreeTraffic = 64 << 20;  // bytes that are always allowed

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DOUBTS_H_
