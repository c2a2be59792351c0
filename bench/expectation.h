// SPDX-License-Identifier: Apache-2.0
//
// What a busbw can be: the ceiling of the wire between the nodes, derived from line rates, and published values with
// their sources. Pure: facts in, numbers out.
//
// Units: rates in Gbit/s (facts::GbitPerSecond), busbw in GB/s = 10^9 bytes a second, as nccl-tests prints it.
#ifndef NCCL_TUNE_BENCH_EXPECTATION_H_
#define NCCL_TUNE_BENCH_EXPECTATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/collective.h"
#include "bench/results.h"
#include "core/facts/node.h"

namespace nccl_tune::bench {

enum class Transport { kRdma, kTcp };

// The NICs of a node that carry the run. Taken from one node for all.
struct WireFacts {
  std::vector<facts::GbitPerSecond> rails{};  // of those used, each one direction
  Transport transport = Transport::kRdma;
  std::optional<int> mtu{};  // bytes, of the interface, for TCP
  std::string source{};      // "NCCL_TUNE_PLAN", "this node's ports"
  std::string missing{};     // why there are no rails, one clause; else empty
};

// Where the ranks of one group are.
struct Places {
  std::uint64_t ranks = 1;
  std::uint64_t nodes = 1;
  std::uint64_t ranks_per_node = 1;  // the most
  std::uint64_t gpus_per_node = 0;   // GPUs that a node has, used or not; 0: none, or not known
  std::string gpu{};                 // its name: "NVIDIA H100 80GB HBM3"; empty for host memory
  std::string algorithm{};           // NCCL_ALGO as set; empty: NCCL chooses
};

// Of the ranks of the first group; without gpus_per_node and algorithm. `gpu` is the name that all of them have, empty
// where they differ and for host memory.
enum class Memory { kHost, kGpu };
Places PlacesOf(const std::vector<Device>& devices, Memory memory);

struct WireCeiling {
  std::uint64_t rails = 0;      // that these ranks can use
  facts::GbitPerSecond rate{};  // of one of them, the fastest
  bool mixed = false;           // they differ
  double carries = 0;           // GB/s of data that these rails carry, one direction
  double bus = 0;               // busbw of the usual algorithm (ring, direct exchange) at that
  double hierarchical = 0;      // busbw of the best that sums or joins within the node first: NVLS, Tree on 2 nodes
  std::optional<double> in_network{};  // busbw where switches do the sum: SHARP
  double efficiency = 0;               // part of the line rate that is data
};

// An Error says, in one clause, why there is no ceiling: one node, no rails, uneven traffic.
base::Result<WireCeiling> CeilingOf(CollectiveKind kind, const Places& places, const WireFacts& wire);

// Bytes that leave a node in one call of `bytes` (the size column), at most: each rank sends all it sends to other
// nodes. For telling one's own traffic from others'. Of an alltoallv by a matrix it says nothing.
double MostBytesLeaving(CollectiveKind kind, const Places& places, double bytes);

// Part of an Ethernet line rate that is TCP's payload: of each frame of `mtu` bytes 40 are IPv4 and TCP headers and 12
// TCP's timestamps (RFC 7323), and 38 more are the frame's own (header 14, check 4, preamble 8, gap 12: IEEE 802.3).
double TcpEfficiency(int mtu);

// A value that somebody has published for a kind of system, at 1 GiB or more.
struct PublishedValue {
  std::string_view system;      // "8 x H100"
  std::string_view gpu;         // words that its name has, with blanks between them: "A100 SXM4"
  std::string_view without;     // words that it has not; may be empty
  std::uint64_t gpus_per_node;  // all of them used
  std::uint64_t rails;          // 0: any; on one node they do not count
  double gbps;                  // of a rail; 0: any
  std::uint64_t least_nodes;
  std::uint64_t most_nodes;
  std::string_view algorithm;  // of NCCL_ALGO; empty: as NCCL chooses
  CollectiveKind kind;
  double measured;  // GB/s; 0: only a threshold is published
  double floor;     // GB/s: a vendor's threshold, else kFloorPart of what was measured
  std::string_view source;
};
inline constexpr double kFloorPart = 0.92;
inline constexpr std::uint64_t kPublishedBytes = 1ULL << 30U;

// All of them, for the tests and the documentation.
std::span<const PublishedValue> PublishedValues();

// The one with the lowest floor of those that fit, for sources disagree; null: none fits. `wire` counts for several
// nodes only.
const PublishedValue* FindPublished(CollectiveKind kind, const Places& places, const WireFacts& wire);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_EXPECTATION_H_
