// SPDX-License-Identifier: Apache-2.0
#include "bench/expectation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace nccl_tune::bench {
namespace {

// Large messages over RDMA reach 96 to 98 % of the line rate: 12 GB/s of 100 Gb/s (NVIDIA/nccl-tests issues 29 and
// 119), 192 of 8 x 200 (NVIDIA/nccl issue 812), 382 of 8 x 400 (stas00/ml-engineering).
constexpr double kRdmaEfficiency = 0.97;
constexpr int kUsualMtu = 1500;
constexpr double kBitsPerByte = 8;

double Sum(const std::vector<facts::GbitPerSecond>& rails, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count && i < rails.size(); ++i) sum += rails[i].value;
  return sum;
}

// Rails that `ranks` ranks of a node can use. A GPU uses those nearest to it, so 1 of 8 GPUs does not fill 8 rails;
// where the number of GPUs is not known, or memory is the host's, all of them count.
std::size_t RailsOf(std::uint64_t ranks, const Places& places, std::size_t rails) {
  if (places.gpus_per_node == 0) return rails;
  const std::uint64_t each = (rails + places.gpus_per_node - 1) / places.gpus_per_node;
  return static_cast<std::size_t>(std::min<std::uint64_t>(rails, std::max<std::uint64_t>(ranks * each, 1)));
}

// busbw over what the rails carry. n ranks, g of them on a node, N nodes; S is the size column, W what the rails of a
// node carry, t the time. nccl-tests' definitions of busbw are in docs/measuring.md.
struct Factors {
  double usual = 1;
  double hierarchical = 1;
  std::optional<double> in_network{};
  bool one_rank = false;  // the rails of one rank count, not those of the node
};

// busbw is S/t times (n-1)/n (all_reduce: twice that). Each ring leaves a node once, so (n-1)/n S (all_reduce: twice)
// leaves it: busbw = W. What a node must send at least, having summed or joined within itself first, is (N-1)/N S
// (twice): busbw up to W (n-1)/n / ((N-1)/N), the same for all three.
Factors RingFactors(CollectiveKind kind, double n, double nodes) {
  Factors out;
  out.hierarchical = (n - 1) / n / ((nodes - 1) / nodes);
  // With the sum in the switch a node sends S once: S/t = W, busbw = 2 (n-1)/n W.
  if (kind == CollectiveKind::kAllReduce) out.in_network = 2 * (n - 1) / n;
  return out;
}

std::optional<Factors> FactorsOf(CollectiveKind kind, const Places& places) {
  const auto n = static_cast<double>(places.ranks);
  const auto nodes = static_cast<double>(places.nodes);
  const auto g = static_cast<double>(places.ranks_per_node);
  Factors out;
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return RingFactors(kind, n, nodes);
    // busbw is S/t. S leaves the root's node, or comes into it, once, however the nodes are chained: W.
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return out;
    // busbw is S/t (n-1)/n, S what a rank sends in all, of which (n-g)/n goes to other nodes; g ranks do so through
    // the same rails: g S (n-g)/n = W t.
    // hypercube: busbw is (n-1) s/t, s a rank's part. Of its rounds those between ranks of different nodes carry
    // s (n-g) for each of g ranks: the same.
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kHypercube:
      out.usual = out.hierarchical = (n - 1) / (g * (n - g));
      return out;
    // busbw is S/t (n-1)/n, and (n-g)/n S passes the rails of one rank, the root.
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      out.usual = out.hierarchical = (n - 1) / (n - g);
      out.one_rank = true;
      return out;
    // busbw is S/t: each rank sends S to the next one. Of a node with ranks in sequence only the last sends to another
    // node, through its own rails; with ranks dealt out in turn each has its own: the same.
    case CollectiveKind::kSendrecv:
      out.one_rank = true;
      return out;
    case CollectiveKind::kAlltoallv:
      break;
  }
  return std::nullopt;
}

// Rails of one rank of a node whose ranks share `rails`: at least one.
std::size_t RailsOfOneRank(const Places& places, std::size_t rails) {
  const std::uint64_t sharing = std::max(places.gpus_per_node, places.ranks_per_node);
  return static_cast<std::size_t>(std::max<std::uint64_t>(rails / std::max<std::uint64_t>(sharing, 1), 1));
}

base::Error No(std::string why) { return {.code = base::Code::kNotFound, .what = std::move(why)}; }

bool HasWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// Calls `judge` for each word of `words`; true when it says so for all.
template <typename Judge>
bool AllWords(std::string_view words, Judge judge) {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (!judge(words.substr(0, end))) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

bool IsGpu(std::string_view name, const PublishedValue& row) {
  return AllWords(row.gpu, [&](auto word) { return HasWord(name, word); }) &&
         AllWords(row.without, [&](auto word) { return !HasWord(name, word); });
}

bool Fits(const PublishedValue& row, CollectiveKind kind, const Places& places, const WireFacts& wire) {
  if (row.kind != kind || places.nodes < row.least_nodes || places.nodes > row.most_nodes) return false;
  if (!IsGpu(places.gpu, row) || !base::EqualsIgnoringCase(places.algorithm, row.algorithm)) return false;
  // All GPUs of each node: a part of them has other rails and another NVLink.
  if (places.ranks_per_node != row.gpus_per_node || places.ranks != places.nodes * row.gpus_per_node) return false;
  if (places.nodes == 1 || row.rails == 0) return true;
  return wire.rails.size() == row.rails && std::all_of(wire.rails.begin(), wire.rails.end(), [&](const auto& rail) {
           return std::abs(rail.value - row.gbps) < 1;
         });
}

}  // namespace

Places PlacesOf(const std::vector<Device>& devices, Memory memory) {
  Places out{.ranks = 0, .nodes = 0, .ranks_per_node = 0, .gpus_per_node = 0, .gpu = "", .algorithm = ""};
  if (devices.empty()) return out;
  std::map<std::string_view, std::uint64_t> nodes;
  bool is_same = memory == Memory::kGpu;
  for (const Device& device : devices) {
    if (device.group != devices[0].group) continue;
    ++out.ranks;
    out.ranks_per_node = std::max(out.ranks_per_node, ++nodes[device.host]);
    is_same = is_same && device.name == devices[0].name;
  }
  out.nodes = nodes.size();
  if (is_same) out.gpu = devices[0].name;
  return out;
}

double TcpEfficiency(int mtu) {
  constexpr double kHeaders = 52;
  constexpr double kFrame = 38;
  return mtu <= kHeaders ? 0 : (mtu - kHeaders) / (mtu + kFrame);
}

base::Result<WireCeiling> CeilingOf(CollectiveKind kind, const Places& places, const WireFacts& wire) {
  if (places.ranks < 2 || places.nodes < 2) return No("all ranks are of one node, so no wire between nodes is used");
  if (places.ranks < places.nodes || places.ranks_per_node == 0 || places.ranks_per_node >= places.ranks) {
    return No("it is not known which ranks share a node");
  }
  if (!wire.missing.empty()) return No(wire.missing);
  const bool has_rates =
      std::all_of(wire.rails.begin(), wire.rails.end(), [](const auto& r) { return r.value > 0 && r.value < 1e6; });
  if (wire.rails.empty() || !has_rates) return No("the line rate of the NICs is not known");
  const auto factors = FactorsOf(kind, places);
  if (!factors) return No("uneven traffic has no ceiling that the number of ranks tells");
  auto rails = wire.rails;
  std::sort(rails.begin(), rails.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  const std::size_t used =
      factors->one_rank ? RailsOfOneRank(places, rails.size()) : RailsOf(places.ranks_per_node, places, rails.size());
  WireCeiling out;
  out.rails = used;
  out.rate = rails[0];
  out.mixed = rails[0].value != rails[used - 1].value;
  out.efficiency = wire.transport == Transport::kRdma ? kRdmaEfficiency : TcpEfficiency(wire.mtu.value_or(kUsualMtu));
  out.carries = Sum(rails, used) * out.efficiency / kBitsPerByte;
  out.bus = out.carries * factors->usual;
  out.hierarchical = out.carries * factors->hierarchical;
  if (factors->in_network) out.in_network = out.carries * *factors->in_network;
  if (!(out.bus > 0)) return No("an MTU of " + std::to_string(wire.mtu.value_or(0)) + " leaves no room for data");
  return out;
}

double MostBytesLeaving(CollectiveKind kind, const Places& places, double bytes) {
  if (places.nodes < 2 || places.ranks < 2) return 0;
  const auto n = static_cast<double>(places.ranks);
  const auto g = static_cast<double>(places.ranks_per_node);
  const double others = (n - 1) / n;
  switch (kind) {
    case CollectiveKind::kAllReduce:  // recursive doubling sends everything in each round
      return g * bytes * std::max(2 * others, std::ceil(std::log2(n)));
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:  // a binomial tree: the root's node sends or gets up to log2 n times
      return g * bytes * std::ceil(std::log2(n));
    case CollectiveKind::kSendrecv:
      return g * bytes;
    case CollectiveKind::kAlltoallv:  // S is what a rank sends in all; a matrix may ask for as much of each rank
      return g * bytes;
    default:
      break;
  }
  return g * bytes * others;
}

const PublishedValue* FindPublished(CollectiveKind kind, const Places& places, const WireFacts& wire) {
  const PublishedValue* best = nullptr;
  for (const PublishedValue& row : PublishedValues()) {
    if (Fits(row, kind, places, wire) && (best == nullptr || row.floor < best->floor)) best = &row;
  }
  return best;
}

}  // namespace nccl_tune::bench
