// SPDX-License-Identifier: Apache-2.0
#include "bench/verdict.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/facts/number_text.h"

namespace nccl_tune::bench {
namespace {

constexpr double kMargin = 1.02;       // above a ceiling by less is within what line rate and clock tell
constexpr double kLeastOfLine = 0.85;  // of the line rate: less is slow, with RDMA
constexpr double kTellingSeconds = 1e-3;

struct Best {
  std::uint64_t bytes = 0;
  double bus = 0;
  double algorithm = 0;
};

std::optional<Best> BestFrom(const Record& record, std::uint64_t least_bytes) {
  std::optional<Best> out;
  for (const Row& row : record.rows) {
    if (row.bytes < least_bytes) continue;
    for (const Block* block : {&row.out_of_place, &row.in_place}) {
      if (!std::isfinite(block->bus_bandwidth) || !std::isfinite(block->algorithm_bandwidth)) continue;
      if (!out || block->bus_bandwidth > out->bus) out = {row.bytes, block->bus_bandwidth, block->algorithm_bandwidth};
    }
  }
  return out;
}

std::uint64_t LargestBytes(const Record& record) {
  std::uint64_t out = 0;
  for (const Row& row : record.rows) out = std::max(out, row.bytes);
  return out;
}

std::string Measured(const Best& best) { return BusText(best.bus) + " GB/s at " + SizeText(best.bytes); }

std::string RailsText(const WireCeiling& ceiling, Transport transport) {
  const std::string rate = facts::NumberText(ceiling.rate.value) + " Gb/s";
  std::string out = ceiling.rails == 1
                        ? "one " + rate + " rail"
                        : std::to_string(ceiling.rails) + " rails of " + (ceiling.mixed ? "up to " : "") + rate;
  return transport == Transport::kTcp ? out + " with TCP" : out;
}

std::string WhatItCarries(const Collective& collective, const VerdictFacts& facts, const WireCeiling& ceiling) {
  const std::string rails = RailsText(ceiling, facts.wire.transport);
  if (ceiling.bus == ceiling.carries) return "what " + rails + " can carry";
  return "the busbw that " + rails + " allow" + (ceiling.rails == 1 ? "s " : " ") + std::string(collective.name) +
         " with " + std::to_string(facts.places.ranks) + " ranks, " + std::to_string(facts.places.ranks_per_node) +
         " a node";
}

// What a busbw above the wire means.
std::string Above(const Best& best, const Collective& collective, const VerdictFacts& facts,
                  const WireCeiling& ceiling) {
  const std::string head =
      Measured(best) + " is above " + WhatItCarries(collective, facts, ceiling) + " (" + BusText(ceiling.bus) + ")";
  if (ceiling.hierarchical > ceiling.bus && best.bus <= ceiling.hierarchical * kMargin) {
    const std::string how =
        facts.host_memory ? "the ranks of a node that share its rails" : "NVLS, or Tree between 2 nodes";
    return head + ", which is possible: " + how + " put their data together within the node, so less passes the wire " +
           "than busbw counts, up to " + BusText(ceiling.hierarchical) +
           (facts.host_memory ? "" : "; NCCL_ALGO=Ring gives a number to compare with the wire");
  }
  if (ceiling.in_network && best.bus <= *ceiling.in_network * kMargin) {
    return head + ", which is possible where switches do the sum (SHARP): each node sends its data once, up to " +
           BusText(*ceiling.in_network);
  }
  return head + " and above what any algorithm gets through it: the run has used something else (other NICs, NVLink " +
         "between nodes), or the rate is wrong. NCCL_DEBUG=INFO shows which NICs it took, `nccl-tune facts` their "
         "rates";
}

std::string Within(const Best& best, const Collective& collective, const VerdictFacts& facts,
                   const WireCeiling& ceiling) {
  const double part = best.bus / ceiling.bus;
  const auto percent = static_cast<int>(std::lround(100 * part));
  std::string out = Measured(best) + " is " + std::to_string(percent) + " % of " +
                    WhatItCarries(collective, facts, ceiling) + " (" + BusText(ceiling.bus) +
                    ", derived from the line rate; rails from " + facts.wire.source + ")";
  if (facts.wire.transport == Transport::kRdma && part * ceiling.efficiency < kLeastOfLine) {
    out +=
        ". RDMA reaches 85 % of the line rate: `nccl-bench pairs` finds a slow node or link, `nccl-tune doctor` a "
        "wrong setting";
  }
  return out;
}

std::string Small(const Record& record, std::uint64_t needed) {
  return "no verdict: " + SizeText(LargestBytes(record)) +
         ", the largest size, tells the latency and not the wire. Measure " + SizeText(needed) + " or more (-e " +
         SizeText(needed) + ")";
}

std::string AgainstWire(const Record& record, const Collective& collective, const VerdictFacts& facts) {
  const auto ceiling = CeilingOf(collective.kind, facts.places, facts.wire);
  if (!ceiling.ok()) {
    const bool uneven = collective.kind == CollectiveKind::kAlltoallv;
    return "no verdict: " + ceiling.error().what +
           (uneven ? "" : ". `srun --nccl-tune` hands the NICs of the node over, `nccl-tune facts` shows them");
  }
  const std::uint64_t needed = LeastTellingBytes(ceiling->bus);
  const auto best = BestFrom(record, needed);
  if (!best) return Small(record, needed);
  return best->bus > ceiling->bus * kMargin ? Above(*best, collective, facts, *ceiling)
                                            : Within(*best, collective, facts, *ceiling);
}

std::string SystemText(const PublishedValue& row, const Places& places) {
  std::string out(row.system);
  if (places.nodes > 1) out = std::to_string(places.nodes) + " nodes of " + out;
  if (places.nodes > 1 && row.rails > 0) {
    out += " with " + std::to_string(row.rails) + " x " + facts::NumberText(row.gbps) + " Gb/s";
  }
  return out;
}

// Nothing: nobody has published anything for this.
std::optional<std::string> AgainstPublished(const Record& record, const Collective& collective,
                                            const VerdictFacts& facts) {
  const PublishedValue* row = FindPublished(collective.kind, facts.places, facts.wire);
  if (row == nullptr) return std::nullopt;
  const auto best = BestFrom(record, kPublishedBytes);
  const std::string system = SystemText(*row, facts.places);
  const std::string source(row->source);
  if (!best) {
    return "for " + system + " " + BusText(row->floor) + " GB/s or more is expected at 1G and above (" + source +
           "), which this run has not measured: -e 8G does";
  }
  const std::string floor = "the floor of " + BusText(row->floor) + " GB/s that " + system +
                            (facts.places.nodes > 1 ? " reach" : " reaches") + " (" + source +
                            (row->measured > 0 ? ": " + BusText(row->measured) + " measured" : ": threshold") + ")";
  if (best->bus >= row->floor) return Measured(*best) + " reaches " + floor;
  return Measured(*best) + " is below " + floor + ". `nccl-bench pairs` finds a slow node or link";
}

std::string OneRank(const Record& record, const Collective& collective) {
  const auto best = BestFrom(record, 0);
  const std::string copy = "what is measured is a copy within memory, no link";
  if (!best || best->bus != 0) return "one rank sends nothing: " + copy;
  const bool twice = collective.kind == CollectiveKind::kAllReduce;
  const bool of_bytes = collective.kind == CollectiveKind::kHypercube;
  return "busbw is 0 with one rank: nothing is sent, and " +
         (of_bytes ? std::string("n-1 parts of data are")
                   : std::string("its factor, ") + (twice ? "2" : "") + "(n-1)/n, is") +
         " 0; " + copy;
}

std::string OneNode(const VerdictFacts& facts, bool published) {
  return "all " + std::to_string(facts.places.ranks) + " ranks are of one node: no wire between nodes is used" +
         (facts.host_memory ? ", this is its memory"
          : published       ? ""
                            : ", and no value is published for " +
                            (facts.places.gpu.empty() ? std::string("this kind of node")
                                                      : std::to_string(facts.places.ranks_per_node) + " of this GPU"));
}

}  // namespace

std::uint64_t LeastTellingBytes(double bus) {
  const double bytes = std::clamp(bus * 1e9 * kTellingSeconds, 1.0, 0x1p40);
  return std::bit_ceil(static_cast<std::uint64_t>(std::ceil(bytes)));
}

std::string SizeText(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "K", "M", "G", "T"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + std::string(kUnits[unit]);
}

std::string BusText(double gigabytes_per_second) {
  const int decimals = gigabytes_per_second < 9.995 ? 2 : gigabytes_per_second < 99.95 ? 1 : 0;
  const double scale = std::pow(10, decimals);
  return facts::NumberText(std::round(gigabytes_per_second * scale) / scale);
}

std::vector<std::string> MakeVerdicts(const Record& record, const VerdictFacts& facts) {
  if (record.options.collective == nullptr) return {};
  const Collective& collective = *record.options.collective;
  if (record.wrong > 0) {
    return {std::to_string(record.wrong) + (record.wrong == 1 ? " value is" : " values are") +
            " wrong: no busbw of this run counts until they are right"};
  }
  // NCCL's last words may be empty: nothing was wrong then.
  if (std::ranges::any_of(record.errors, [](const std::string& error) { return !error.empty(); })) {
    return {"the run broke off: no verdict"};
  }
  if (record.rows.empty()) return {};
  if (record.options.reports_cpu_time) return {"no verdict: -C times the calls, not the data they move"};
  if (record.options.split && facts.places.ranks > 1) {
    return {"no verdict: the groups of NCCL_TESTS_SPLIT share what they are measured over"};
  }
  if (facts.places.ranks < 2) return {OneRank(record, collective)};
  std::vector<std::string> out;
  auto published = AgainstPublished(record, collective, facts);
  out.push_back(facts.places.nodes < 2 ? OneNode(facts, published.has_value())
                                       : AgainstWire(record, collective, facts));
  if (published) out.push_back(std::move(*published));
  return out;
}

}  // namespace nccl_tune::bench
