// SPDX-License-Identifier: Apache-2.0
#include "bench/expectation.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using enum CollectiveKind;

WireFacts Rails(std::size_t count, double gbps, Transport transport = Transport::kRdma) {
  WireFacts out;
  out.rails.assign(count, facts::GbitPerSecond{gbps});
  out.transport = transport;
  return out;
}

Places On(std::uint64_t nodes, std::uint64_t each, std::uint64_t gpus = 0, std::string gpu = "") {
  return {.ranks = nodes * each, .nodes = nodes, .ranks_per_node = each, .gpus_per_node = gpus, .gpu = std::move(gpu)};
}

TEST(PlacesOfTest, CountsTheFirstGroup) {
  std::vector<Device> devices(5);
  devices[0].host = devices[1].host = devices[3].host = "a";
  devices[2].host = devices[4].host = "b";
  for (auto& device : devices) device.name = "NVIDIA H100";
  const Places all = PlacesOf(devices, Memory::kGpu);
  EXPECT_EQ(all.ranks, 5U);
  EXPECT_EQ(all.nodes, 2U);
  EXPECT_EQ(all.ranks_per_node, 3U);
  EXPECT_EQ(all.gpu, "NVIDIA H100");
  EXPECT_EQ(PlacesOf(devices, Memory::kHost).gpu, "");
  devices[4].name = "NVIDIA H200";
  EXPECT_EQ(PlacesOf(devices, Memory::kGpu).gpu, "");
  devices[4].group = devices[3].group = 1;
  const Places first = PlacesOf(devices, Memory::kGpu);
  EXPECT_EQ(first.ranks, 3U);
  EXPECT_EQ(first.ranks_per_node, 2U);
  EXPECT_EQ(first.gpu, "NVIDIA H100");
  EXPECT_EQ(PlacesOf({}, Memory::kGpu).ranks, 0U);
  EXPECT_FALSE(CeilingOf(kAllReduce, PlacesOf({}, Memory::kGpu), Rails(1, 25)).ok());
}

TEST(CeilingOfTest, OneRailEach) {
  const struct {
    std::size_t rails;
    double gbps;
    double bus;
  } rows[] = {{1, 10, 1.2},   {1, 25, 3.0}, {2, 25, 6.1}, {1, 50, 6.1},  {1, 100, 12.1}, {2, 100, 24.3},
              {4, 100, 48.5}, {8, 100, 97}, {4, 200, 97}, {8, 200, 194}, {8, 400, 388},  {8, 800, 776}};
  for (const auto& row : rows) {
    const auto got = CeilingOf(kAllReduce, On(4, 1), Rails(row.rails, row.gbps));
    ASSERT_TRUE(got.ok());
    EXPECT_NEAR(got->bus, row.bus, 0.06) << row.rails << " x " << row.gbps;
    EXPECT_EQ(got->rails, row.rails);
    EXPECT_EQ(got->rate.value, row.gbps);
    EXPECT_FALSE(got->mixed);
  }
}

TEST(CeilingOfTest, EachCollective) {
  const double wire = 388;  // 8 x 400 Gb/s
  const struct {
    CollectiveKind kind;
    double usual;
    double hierarchical;
  } rows[] = {
      {kAllReduce, wire, wire * 1.875},
      {kAllGather, wire, wire * 1.875},
      {kReduceScatter, wire, wire * 1.875},
      {kBroadcast, wire, wire},
      {kReduce, wire, wire},
      {kAlltoall, wire * 15 / 64, wire * 15 / 64},  // 91; 79.1 was measured with 32 x 100 Gb/s
      {kHypercube, wire * 15 / 64, wire * 15 / 64},
      {kGather, 48.5 * 15 / 8, 48.5 * 15 / 8},
      {kScatter, 48.5 * 15 / 8, 48.5 * 15 / 8},
      {kSendrecv, 48.5, 48.5},
  };
  for (const auto& row : rows) {
    const auto got = CeilingOf(row.kind, On(2, 8, 8), Rails(8, 400));
    ASSERT_TRUE(got.ok()) << static_cast<int>(row.kind);
    EXPECT_NEAR(got->bus, row.usual, 0.01) << static_cast<int>(row.kind);
    EXPECT_NEAR(got->hierarchical, row.hierarchical, 0.01) << static_cast<int>(row.kind);
    EXPECT_EQ(got->in_network.has_value(), row.kind == kAllReduce);
  }
  EXPECT_NEAR(*CeilingOf(kAllReduce, On(2, 8, 8), Rails(8, 400))->in_network, wire * 1.875, 0.01);
  EXPECT_NEAR(*CeilingOf(kAllReduce, On(4, 8, 8), Rails(8, 400))->in_network, wire * 2 * 31 / 32, 0.01);
  EXPECT_NEAR(CeilingOf(kAllReduce, On(4, 1), Rails(1, 25))->hierarchical, 3.03, 0.01);  // nothing to sum within
}

TEST(CeilingOfTest, OnlyTheRailsThatTheRanksUse) {
  const struct {
    CollectiveKind kind;
    std::uint64_t ranks_per_node;
    std::uint64_t gpus;
    std::size_t rails;
    std::uint64_t used;
  } rows[] = {
      {kAllReduce, 1, 8, 8, 1}, {kAllReduce, 4, 8, 8, 4},  {kAllReduce, 8, 8, 8, 8}, {kAllReduce, 1, 8, 16, 2},
      {kAllReduce, 1, 8, 1, 1}, {kAllReduce, 16, 8, 8, 8}, {kAllReduce, 1, 0, 2, 2}, {kAllReduce, 2, 4, 1, 1},
      {kSendrecv, 8, 8, 8, 1},  {kSendrecv, 1, 8, 8, 1},   {kSendrecv, 8, 8, 16, 2}, {kSendrecv, 1, 0, 2, 2},
      {kSendrecv, 2, 0, 2, 1},  {kSendrecv, 8, 0, 1, 1},   {kGather, 8, 8, 8, 1},
  };
  for (const auto& row : rows) {
    const auto got = CeilingOf(row.kind, On(2, row.ranks_per_node, row.gpus), Rails(row.rails, 100));
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->rails, row.used) << row.ranks_per_node << " of " << row.gpus << ", " << row.rails;
  }
  auto mixed = Rails(1, 25);
  mixed.rails.push_back({100});
  const auto got = CeilingOf(kAllReduce, On(2, 1), mixed);
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->mixed);
  EXPECT_EQ(got->rate.value, 100);
  EXPECT_NEAR(got->bus, 15.16, 0.01);
}

TEST(CeilingOfTest, TcpPaysItsHeaders) {
  EXPECT_NEAR(TcpEfficiency(1500), 1448.0 / 1538, 1e-12);
  EXPECT_NEAR(TcpEfficiency(9000), 8948.0 / 9038, 1e-12);
  for (const int mtu : {52, 0, -1, std::numeric_limits<int>::min()}) EXPECT_EQ(TcpEfficiency(mtu), 0) << mtu;
  auto wire = Rails(1, 10, Transport::kTcp);
  EXPECT_NEAR(CeilingOf(kAllReduce, On(2, 1), wire)->bus, 1.177, 0.001);  // 1500 where it is not known
  wire.mtu = 9000;
  EXPECT_NEAR(CeilingOf(kAllReduce, On(2, 1), wire)->bus, 1.2375, 0.001);
}

TEST(CeilingOfTest, SaysWhyThereIsNone) {
  auto missing = Rails(0, 0);
  missing.missing = "no ACTIVE port";
  auto short_frames = Rails(1, 10, Transport::kTcp);
  short_frames.mtu = 40;
  const Places odd[] = {{.ranks = 4, .nodes = 8},
                        {.ranks = 4, .nodes = 2, .ranks_per_node = 0},
                        {.ranks = 4, .nodes = 2, .ranks_per_node = 4}};
  const struct {
    CollectiveKind kind;
    Places places;
    WireFacts wire;
    const char* what;
  } rows[] = {
      {kAllReduce, On(1, 1), Rails(1, 25), "all ranks are of one node, so no wire between nodes is used"},
      {kAllReduce, On(1, 8), Rails(1, 25), "all ranks are of one node, so no wire between nodes is used"},
      {kAllReduce,
       {.ranks = 0, .nodes = 0},
       Rails(1, 25),
       "all ranks are of one node, so no wire between nodes is used"},
      {kAllReduce, odd[0], Rails(1, 25), "it is not known which ranks share a node"},
      {kAllReduce, odd[1], Rails(1, 25), "it is not known which ranks share a node"},
      {kAllReduce, odd[2], Rails(1, 25), "it is not known which ranks share a node"},
      {kAllReduce, On(2, 1), missing, "no ACTIVE port"},
      {kAllReduce, On(2, 1), Rails(0, 0), "the line rate of the NICs is not known"},
      {kAllReduce, On(2, 1), Rails(2, 0), "the line rate of the NICs is not known"},
      {kAllReduce, On(2, 1), Rails(1, -25), "the line rate of the NICs is not known"},
      {kAllReduce, On(2, 1), Rails(1, std::numeric_limits<double>::quiet_NaN()),
       "the line rate of the NICs is not known"},
      {kAllReduce, On(2, 1), Rails(1, std::numeric_limits<double>::infinity()),
       "the line rate of the NICs is not known"},
      {kAlltoallv, On(2, 1), Rails(1, 25), "uneven traffic has no ceiling that the number of ranks tells"},
      {kAllReduce, On(2, 1), short_frames, "an MTU of 40 leaves no room for data"},
  };
  for (const auto& row : rows) {
    const auto got = CeilingOf(row.kind, row.places, row.wire);
    ASSERT_FALSE(got.ok()) << row.what;
    EXPECT_EQ(got.error().what, row.what);
  }
}

TEST(MostBytesLeavingTest, IsNoLessThanWhatAnAlgorithmSends) {
  EXPECT_EQ(MostBytesLeaving(kAllReduce, On(1, 8), 100), 0);
  EXPECT_EQ(MostBytesLeaving(kAllReduce, On(2, 1), 100), 100);
  EXPECT_EQ(MostBytesLeaving(kAllReduce, On(4, 1), 100), 200);
  EXPECT_EQ(MostBytesLeaving(kAllReduce, On(2, 8), 100), 3200);
  EXPECT_EQ(MostBytesLeaving(kAllGather, On(4, 1), 100), 75);
  EXPECT_EQ(MostBytesLeaving(kBroadcast, On(8, 1), 100), 300);
  EXPECT_EQ(MostBytesLeaving(kSendrecv, On(8, 2), 100), 200);
  EXPECT_EQ(MostBytesLeaving(kAlltoallv, On(2, 1), 100), 100);
}

TEST(PublishedValuesTest, EveryRowIsWhole) {
  for (const PublishedValue& row : PublishedValues()) {
    EXPECT_FALSE(row.system.empty() || row.gpu.empty() || row.source.empty()) << row.system;
    EXPECT_GT(row.floor, 1) << row.system;
    EXPECT_LT(row.floor, 2000) << row.system;
    if (row.measured > 0) {
      EXPECT_NEAR(row.floor, 0.92 * row.measured, 1e-6) << row.system;
    }
    EXPECT_LE(row.least_nodes, row.most_nodes) << row.system;
    EXPECT_EQ(row.rails == 0, row.gbps == 0) << row.system;
    EXPECT_GE(row.gpus_per_node, 2U) << row.system;
  }
}

// No floor of several nodes is above what the derived ceiling allows, or one of the two is wrong.
TEST(PublishedValuesTest, NoneIsAboveItsWire) {
  for (const PublishedValue& row : PublishedValues()) {
    if (row.rails == 0) continue;
    const auto ceiling =
        CeilingOf(row.kind, On(row.least_nodes, row.gpus_per_node, row.gpus_per_node), Rails(row.rails, row.gbps));
    ASSERT_TRUE(ceiling.ok()) << row.source;
    EXPECT_LE(row.measured, ceiling->hierarchical * 1.01) << row.source;
    EXPECT_LE(row.floor, ceiling->hierarchical) << row.source;
  }
}

TEST(FindPublishedTest, Finds) {
  const struct {
    CollectiveKind kind;
    Places places;
    WireFacts wire;
    const char* source;
    double floor;
  } rows[] = {
      {kAllReduce, On(1, 8, 8, "NVIDIA H100 80GB HBM3"), {}, "NVIDIA/dgxc-benchmarking", 441.6},
      {kAllReduce, On(1, 8, 8, "NVIDIA A100-SXM4-40GB"), {}, "stas00/ml-engineering", 215.28},
      {kAllReduce, On(1, 2, 2, "NVIDIA H100 NVL"), {}, "Azure NHC", 208},
      {kAllGather, On(1, 8, 8, "NVIDIA H200"), {}, "stas00/ml-engineering", 332.488},
      {kAllReduce, On(1, 4, 4, "NVIDIA GB200"), {}, "stas00/ml-engineering", 557.428},
      {kAllReduce, On(1, 8, 8, "NVIDIA B200"), {}, "stas00/ml-engineering", 771.88},
      {kAllReduce, On(2, 8, 8, "NVIDIA H100 80GB HBM3"), Rails(8, 400), "oci-hpc", 440},
      {kAllReduce, On(2, 8, 8, "NVIDIA H100 80GB HBM3"), Rails(32, 100), "awsome-distributed-training, p5", 440.956},
      {kAllReduce, On(2, 8, 8, "Tesla V100-SXM2-32GB"), Rails(4, 100), "NVIDIA/nccl-tests issue 29", 44.16},
      {kAllReduce, On(4, 4, 4, "NVIDIA GB200"), Rails(4, 400), "NVCRE, AWS without MNNVL", 176.088},
  };
  for (const auto& row : rows) {
    const PublishedValue* got = FindPublished(row.kind, row.places, row.wire);
    ASSERT_NE(got, nullptr) << row.source;
    EXPECT_EQ(got->source, row.source);
    EXPECT_NEAR(got->floor, row.floor, 0.01) << row.source;
  }
  Places ring = On(1, 8, 8, "NVIDIA H100 80GB HBM3");
  ring.algorithm = "ring";
  EXPECT_NEAR(FindPublished(kAllReduce, ring, {})->floor, 340.4, 0.01);
}

TEST(FindPublishedTest, FindsNone) {
  Places tree = On(1, 8, 8, "NVIDIA H100 80GB HBM3");
  tree.algorithm = "Tree";
  Places uneven = On(2, 8, 8, "NVIDIA H100 80GB HBM3");
  uneven.ranks = 12;
  const struct {
    const char* why;
    CollectiveKind kind;
    Places places;
    WireFacts wire;
  } rows[] = {
      {"no GPU", kAllReduce, On(1, 8), {}},
      {"part of the GPUs", kAllReduce, On(1, 4, 8, "NVIDIA H100 80GB HBM3"), {}},
      {"another board", kAllReduce, On(1, 8, 8, "NVIDIA H100 NVL"), {}},
      {"another board", kAllReduce, On(1, 8, 8, "NVIDIA A100 80GB PCIe"), {}},
      {"another chip", kAllReduce, On(1, 8, 8, "NVIDIA GH100"), {}},
      {"another chip", kAllReduce, On(1, 8, 8, "NVIDIA GB200"), {}},
      {"another chip", kAllReduce, On(1, 8, 8, "NVIDIA H1000"), {}},
      {"another collective", kBroadcast, On(1, 8, 8, "NVIDIA H100 80GB HBM3"), {}},
      {"another algorithm", kAllReduce, tree, {}},
      {"fewer rails", kAllReduce, On(2, 8, 8, "NVIDIA H100 80GB HBM3"), Rails(4, 400)},
      {"slower rails", kAllReduce, On(2, 8, 8, "NVIDIA H100 80GB HBM3"), Rails(8, 100)},
      {"no rails known", kAllReduce, On(2, 8, 8, "NVIDIA H100 80GB HBM3"), {}},
      {"more nodes", kAllReduce, On(3, 8, 8, "NVIDIA H100 80GB HBM3"), Rails(8, 400)},
      {"uneven nodes", kAllReduce, uneven, Rails(8, 400)},
      {"an odd name", kAllReduce, On(1, 8, 8, std::string("\xff\0H100x", 7)), {}},
  };
  for (const auto& row : rows) EXPECT_EQ(FindPublished(row.kind, row.places, row.wire), nullptr) << row.why;
}

}  // namespace
}  // namespace nccl_tune::bench
