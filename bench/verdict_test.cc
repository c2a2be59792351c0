// SPDX-License-Identifier: Apache-2.0
#include "bench/verdict.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::bench {
namespace {

using enum CollectiveKind;

Collective Named(CollectiveKind kind, std::string_view name) {
  Collective out{};
  out.kind = kind;
  out.name = name;
  return out;
}
const Collective kSum = Named(kAllReduce, "all_reduce");
const Collective kAll = Named(kAlltoall, "alltoall");
const Collective kUneven = Named(kAlltoallv, "alltoallv");
const Collective kCube = Named(kHypercube, "hypercube");
const Collective kSpread = Named(kBroadcast, "broadcast");
const Collective kJoin = Named(kAllGather, "all_gather");

constexpr std::uint64_t kM = 1ULL << 20U;
constexpr std::uint64_t kG = 1ULL << 30U;

struct Point {
  std::uint64_t bytes;
  double bus;
};

Record Measured(const Collective& collective, const std::vector<Point>& points) {
  Record out;
  out.options.collective = &collective;
  for (const Point& point : points) {
    Row row;
    row.bytes = point.bytes;
    row.out_of_place.bus_bandwidth = point.bus / 2;
    row.in_place.bus_bandwidth = point.bus;
    out.rows.push_back(row);
  }
  return out;
}

VerdictFacts Facts(std::uint64_t nodes, std::uint64_t each, std::size_t rails, double gbps) {
  VerdictFacts out;
  out.places = {.ranks = nodes * each, .nodes = nodes, .ranks_per_node = each};
  out.wire.rails.assign(rails, {gbps});
  out.wire.source = "NCCL_TUNE_PLAN";
  return out;
}

VerdictFacts Gpus(std::uint64_t nodes, const char* name, std::uint64_t each = 8, std::size_t rails = 8,
                  double gbps = 400) {
  VerdictFacts out = Facts(nodes, each, rails, gbps);
  out.places.gpus_per_node = each;
  out.places.gpu = name;
  return out;
}

constexpr const char* kH100 = "NVIDIA H100 80GB HBM3";

std::string Joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += (out.empty() ? "" : " | ") + line;
  return out;
}

// No parser of nccl-tests' output takes it for something else.
void ExpectHarmless(const std::string& text) {
  for (const char* word : {"bandwidth", "FAILED", "Test failure", "Test NCCL", "out-of-place", "Out of bounds", " on ",
                           "Rank", "device", "\n"}) {
    EXPECT_EQ((text + " ").find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST(MakeVerdictsTest, AgainstTheWire) {
  auto tcp = Facts(2, 1, 1, 10);
  tcp.wire.transport = Transport::kTcp;
  tcp.wire.source = "this node's interfaces";
  auto mixed = Facts(2, 1, 1, 25);
  mixed.wire.rails.push_back({100});
  auto host = Facts(2, 4, 1, 25);
  host.host_memory = true;
  const struct {
    const Collective* collective;
    std::vector<Point> points;
    VerdictFacts facts;
    const char* text;
  } rows[] = {
      {&kSum,
       {{8, 0.01}, {32 * kM, 2.85}},
       Facts(2, 1, 1, 25),
       "2.85 GB/s at 32M is 94 % of what one 25 Gb/s rail can carry (3.03, derived from the line rate; rails from "
       "NCCL_TUNE_PLAN)"},
      // The best of the large ones: a small one may come out of caches.
      {&kSum,
       {{kM, 9}, {32 * kM, 2.9}, {64 * kM, 2.8}},
       Facts(2, 1, 1, 25),
       "2.9 GB/s at 32M is 96 % of what one 25 Gb/s rail can carry (3.03, derived from the line rate; rails from "
       "NCCL_TUNE_PLAN)"},
      {&kSum,
       {{32 * kM, 2.0}},
       Facts(4, 1, 1, 25),
       "2 GB/s at 32M is 66 % of what one 25 Gb/s rail can carry (3.03, derived from the line rate; rails from "
       "NCCL_TUNE_PLAN). RDMA reaches 85 % of the line rate: `nccl-bench pairs` finds a slow node or link, `nccl-tune "
       "doctor` a wrong setting"},
      {&kSum,
       {{32 * kM, 0.9}},
       tcp,
       "0.9 GB/s at 32M is 76 % of what one 10 Gb/s rail with TCP can carry (1.18, derived from the line rate; rails "
       "from this node's interfaces)"},
      {&kSum,
       {{32 * kM, 14}},
       mixed,
       "14 GB/s at 32M is 92 % of what 2 rails of up to 100 Gb/s can carry (15.2, derived from the line rate; rails "
       "from NCCL_TUNE_PLAN)"},
      {&kAll,
       {{kG, 79.1}},
       Facts(2, 8, 8, 400),
       "79.1 GB/s at 1G is 87 % of the busbw that 8 rails of 400 Gb/s allow alltoall with 16 ranks, 8 a node (90.9, "
       "derived from the line rate; rails from NCCL_TUNE_PLAN). RDMA reaches 85 % of the line rate: `nccl-bench pairs` "
       "finds a slow node or link, `nccl-tune doctor` a wrong setting"},
      {&kSum,
       {{32 * kM, 3.06}},
       Facts(2, 1, 1, 25),
       "3.06 GB/s at 32M is 101 % of what one 25 Gb/s rail can carry (3.03, derived from the line rate; rails from "
       "NCCL_TUNE_PLAN)"},
      {&kSum,
       {{32 * kM, 4.5}},
       host,
       "4.5 GB/s at 32M is above what one 25 Gb/s rail can carry (3.03), which is possible: the ranks of a node that "
       "share its rails put their data together within the node, so less passes the wire than busbw counts, up to "
       "5.3"},
      {&kSum,
       {{32 * kM, 4.5}},
       Facts(4, 1, 1, 25),
       "4.5 GB/s at 32M is above what one 25 Gb/s rail can carry (3.03), which is possible where switches do the sum "
       "(SHARP): each node sends its data once, up to 4.55"},
      {&kSpread,
       {{32 * kM, 5.0}},
       Facts(4, 1, 1, 25),
       "5 GB/s at 32M is above what one 25 Gb/s rail can carry (3.03) and above what any algorithm gets through it: "
       "the run has used something else (other NICs, NVLink between nodes), or the rate is wrong. NCCL_DEBUG=INFO "
       "shows which NICs it took, `nccl-tune facts` their rates"},
  };
  for (const auto& row : rows) {
    const auto got = Joined(MakeVerdicts(Measured(*row.collective, row.points), row.facts));
    EXPECT_EQ(got, row.text);
    ExpectHarmless(got);
  }
}

TEST(MakeVerdictsTest, AgainstWhatIsPublished) {
  const struct {
    const Collective* collective;
    std::vector<Point> points;
    VerdictFacts facts;
    const char* text;
  } rows[] = {
      {&kSum,
       {{8 * kG, 480.2}},
       Gpus(1, kH100),
       "all 8 ranks are of one node: no wire between nodes is used | 480 GB/s at 8G reaches the floor of 442 GB/s that "
       "8 x H100 reaches (NVIDIA/dgxc-benchmarking: 480 measured)"},
      {&kSum,
       {{8 * kG, 300}},
       Gpus(1, kH100),
       "all 8 ranks are of one node: no wire between nodes is used | 300 GB/s at 8G is below the floor of 442 GB/s "
       "that 8 x H100 reaches (NVIDIA/dgxc-benchmarking: 480 measured). `nccl-bench pairs` finds a slow node or link"},
      {&kSum,
       {{512 * kM, 300}},
       Gpus(1, kH100),
       "all 8 ranks are of one node: no wire between nodes is used | for 8 x H100 442 GB/s or more is expected at 1G "
       "and above (NVIDIA/dgxc-benchmarking), which this run has not measured: -e 8G does"},
      {&kSum,
       {{8 * kG, 470}},
       Gpus(2, kH100),
       "470 GB/s at 8G is above what 8 rails of 400 Gb/s can carry (388), which is possible: NVLS, or Tree between 2 "
       "nodes put their data together within the node, so less passes the wire than busbw counts, up to 728; "
       "NCCL_ALGO=Ring gives a number to compare with the wire | 470 GB/s at 8G reaches the floor of 440 GB/s that 2 "
       "nodes of 8 x H100 with 8 x 400 Gb/s reach (oci-hpc: threshold)"},
      {&kSum,
       {{8 * kG, 370}},
       Gpus(2, kH100),
       "370 GB/s at 8G is 95 % of what 8 rails of 400 Gb/s can carry (388, derived from the line rate; rails from "
       "NCCL_TUNE_PLAN) | 370 GB/s at 8G is below the floor of 440 GB/s that 2 nodes of 8 x H100 with 8 x 400 Gb/s "
       "reach (oci-hpc: threshold). `nccl-bench pairs` finds a slow node or link"},
      {&kJoin,
       {{8 * kG, 300}},
       Gpus(1, "NVIDIA L40S"),
       "all 8 ranks are of one node: no wire between nodes is used, and no value is published for 8 of this GPU"},
  };
  for (const auto& row : rows) {
    const auto got = Joined(MakeVerdicts(Measured(*row.collective, row.points), row.facts));
    EXPECT_EQ(got, row.text);
    ExpectHarmless(got);
  }
}

TEST(MakeVerdictsTest, WhereThereIsNoVerdict) {
  auto wrong = Measured(kSum, {{32 * kM, 2.85}});
  wrong.wrong = 3;
  auto one_wrong = wrong;
  one_wrong.wrong = 1;
  auto broken = Measured(kSum, {{32 * kM, 2.85}});
  broken.errors = {"rank 1 is gone"};
  auto cpu_time = Measured(kSum, {{32 * kM, 2.85}});
  cpu_time.options.reports_cpu_time = true;
  auto split = Measured(kSum, {{32 * kM, 2.85}});
  split.options.split = Split{};
  auto missing = Facts(2, 1, 0, 0);
  missing.wire.missing = "no RDMA port of this node is ACTIVE";
  auto host = Facts(1, 4, 1, 25);
  host.host_memory = true;
  auto nobody = Measured(kSum, {{32 * kM, 2.85}});
  nobody.options.collective = nullptr;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    Record record;
    VerdictFacts facts;
    const char* text;
  } rows[] = {
      {wrong, Facts(2, 1, 1, 25), "3 values are wrong: no busbw of this run counts until they are right"},
      {one_wrong, Gpus(2, kH100), "1 value is wrong: no busbw of this run counts until they are right"},
      {broken, Facts(2, 1, 1, 25), "the run broke off: no verdict"},
      {cpu_time, Facts(2, 1, 1, 25), "no verdict: -C times the calls, not the data they move"},
      {split, Facts(2, 1, 1, 25), "no verdict: the groups of NCCL_TESTS_SPLIT share what they are measured over"},
      {Measured(kSum, {}), Facts(2, 1, 1, 25), ""},
      {nobody, Facts(2, 1, 1, 25), ""},
      {Measured(kSum, {{32 * kM, 0}}), Facts(1, 1, 1, 25),
       "busbw is 0 with one rank: nothing is sent, and its factor, 2(n-1)/n, is 0; what is measured is a copy within "
       "memory, no link"},
      {Measured(kAll, {{32 * kM, 0}}), Facts(1, 1, 1, 25),
       "busbw is 0 with one rank: nothing is sent, and its factor, (n-1)/n, is 0; what is measured is a copy within "
       "memory, no link"},
      {Measured(kCube, {{32 * kM, 0}}), Facts(1, 1, 1, 25),
       "busbw is 0 with one rank: nothing is sent, and n-1 parts of data are 0; what is measured is a copy within "
       "memory, no link"},
      {Measured(kSpread, {{32 * kM, 900}}), Gpus(1, kH100, 1),
       "one rank sends nothing: what is measured is a copy within memory, no link"},
      {Measured(kSum, {{8, 0.01}, {kM, 1.5}}), Facts(2, 1, 1, 25),
       "no verdict: 1M, the largest size, tells the latency and not the wire. Measure 4M or more (-e 4M)"},
      {Measured(kSum, {{256 * kM, 200}}), Facts(4, 8, 8, 400),
       "no verdict: 256M, the largest size, tells the latency and not the wire. Measure 512M or more (-e 512M)"},
      {Measured(kSum, {{0, 0}}), Facts(2, 1, 1, 25),
       "no verdict: 0, the largest size, tells the latency and not the wire. Measure 4M or more (-e 4M)"},
      {Measured(kSum, {{32 * kM, 2.85}}), missing,
       "no verdict: no RDMA port of this node is ACTIVE. `srun --nccl-tune` hands the NICs of the node over, "
       "`nccl-tune facts` shows them"},
      {Measured(kUneven, {{32 * kM, 2.85}}), Facts(2, 1, 1, 25),
       "no verdict: uneven traffic has no ceiling that the number of ranks tells"},
      {Measured(kSum, {{32 * kM, 9}}), host,
       "all 4 ranks are of one node: no wire between nodes is used, this is its "
       "memory"},
      {Measured(kSum, {{32 * kM, 9}}), Facts(1, 4, 1, 25),
       "all 4 ranks are of one node: no wire between nodes is used, and no value is published for this kind of node"},
      {Measured(kSum, {{32 * kM, nan}}), Facts(2, 1, 1, 25),
       "no verdict: 32M, the largest size, tells the latency and not the wire. Measure 4M or more (-e 4M)"},
  };
  for (const auto& row : rows) {
    const auto got = Joined(MakeVerdicts(row.record, row.facts));
    EXPECT_EQ(got, row.text);
    ExpectHarmless(got);
  }
}

TEST(VerdictTextTest, Sizes) {
  const std::pair<std::uint64_t, const char*> rows[] = {{0, "0"},
                                                        {1, "1"},
                                                        {1000, "1000"},
                                                        {1024, "1K"},
                                                        {1536, "1536"},
                                                        {32 * kM, "32M"},
                                                        {8 * kG, "8G"},
                                                        {1ULL << 40U, "1T"},
                                                        {1ULL << 60U, "1048576T"}};
  for (const auto& [bytes, text] : rows) EXPECT_EQ(SizeText(bytes), text);
}

TEST(VerdictTextTest, Numbers) {
  const std::pair<double, const char*> rows[] = {{0, "0"},         {0.004, "0"},   {2.854, "2.85"}, {9.999, "10"},
                                                 {12.125, "12.1"}, {99.96, "100"}, {388, "388"},    {1234.5, "1235"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(BusText(value), text) << value;
}

TEST(LeastTellingBytesTest, IsAMillisecondOfTheWire) {
  EXPECT_EQ(LeastTellingBytes(3.03), 4 * kM);
  EXPECT_EQ(LeastTellingBytes(388), 512 * kM);
  EXPECT_EQ(LeastTellingBytes(0), 1U);
  EXPECT_EQ(LeastTellingBytes(-1), 1U);
  EXPECT_EQ(LeastTellingBytes(1e30), 1ULL << 40U);
}

// A finished run lists NCCL's last word, empty or not.
TEST(MakeVerdictsTest, AnEmptyLastWordIsNoError) {
  Record record = Measured(kSum, {{32 * kM, 2.85}});
  const auto without = MakeVerdicts(record, Facts(2, 1, 1, 25));
  ASSERT_FALSE(without.empty());
  record.errors = {""};
  EXPECT_EQ(MakeVerdicts(record, Facts(2, 1, 1, 25)), without);
}

}  // namespace
}  // namespace nccl_tune::bench
