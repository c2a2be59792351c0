// SPDX-License-Identifier: Apache-2.0
#include "launcher/differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "launcher/test_entries.h"

namespace nccl_tune::launcher {
namespace {

using Change = std::function<void(NodeEntry*)>;

// 8 nodes, of which the fourth is changed.
std::vector<NodeEntry> WithOneOdd(const Change& change) {
  auto out = MakeTestEntries(8);
  change(&out[3]);
  return out;
}

std::string Show(const std::vector<Difference>& differences) {
  std::string out;
  for (const auto& d : differences) {
    out += (out.empty() ? "" : "; ") + d.what + ": " + d.most + " x" + std::to_string(d.most_count);
    for (const auto& odd : d.odd) out += ", " + odd.value + " on " + odd.nodes;
  }
  return out;
}

TEST(CompareTest, NamesTheOddNode) {
  struct Row {
    Change change;
    std::string shown;
    Severity severity;
  };
  const auto rails = [](auto change) {
    return [change](NodeEntry* e) {
      for (auto& rail : e->rails) change(&rail);
    };
  };
  const std::vector<Row> rows = {
      {[](NodeEntry* e) { e->version = "0.0.9"; }, "nccl-tune: 0.1.0 x7, 0.0.9 on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->rails.pop_back(); }, "rails: 8 x7, 7 on server4", Severity::kFail},
      {[](NodeEntry* e) { e->rails.clear(); }, "rails: 8 x7, 0 on server4", Severity::kFail},
      {[](NodeEntry* e) { e->rails[2].gbps = 200; }, "rate of rails: 400 Gbit/s x7, 400 Gbit/s,200 Gbit/s on server4",
       Severity::kWarn},
      {rails([](Rail* rail) { rail->mtu = 1500; }), "MTU of rails: 9000 x7, 1500 on server4", Severity::kWarn},
      {rails([](Rail* rail) { rail->families = "6"; }), "GID family: IPv4 x7, IPv6 on server4", Severity::kFail},
      {rails([](Rail* rail) { rail->roce = 1; }), "RoCE version: v2 x7, v1 on server4", Severity::kFail},
      {rails([](Rail* rail) { rail->ethernet = false; }), "link layer: Ethernet x7, InfiniBand on server4",
       Severity::kFail},
      {[](NodeEntry* e) { std::swap(e->rails[0], e->rails[7]); },
       "order of rails: 172.20.0.0/24 172.20.1.0/24 172.20.2.0/24 172.20.3.0/24 172.20.4.0/24 172.20.5.0/24 "
       "172.20.6.0/24 172.20.7.0/24 x7, 172.20.7.0/24 172.20.1.0/24 172.20.2.0/24 172.20.3.0/24 172.20.4.0/24 "
       "172.20.5.0/24 172.20.6.0/24 172.20.0.0/24 on server4",
       Severity::kWarn},
      {[](NodeEntry* e) { e->planned_values.clear(); }, "NCCL_IB_TC: 106 x7, unset on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->user_values["NCCL_IB_TC"] = "96"; }, "NCCL_IB_TC: 106 x7, 96 on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->planned_values["NCCL_CROSS_NIC"] = "0"; }, "NCCL_CROSS_NIC: unset x7, 0 on server4",
       Severity::kWarn},
      {[](NodeEntry* e) { e->user_values.clear(); }, "NCCL_IB_TIMEOUT: 20 x7, unset on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->user_values["NCCL_DEBUG"] = "INFO"; }, "NCCL_DEBUG: unset x7, INFO on server4",
       Severity::kNote},
      {[](NodeEntry* e) { e->user_values["NCCL_IB_HCA"] = "=mlx5_4"; }, "NCCL_IB_HCA: unset x7, =mlx5_4 on server4",
       Severity::kNote},
      {[](NodeEntry* e) { e->nccl = "2.27.3"; }, "NCCL version: 2.28.9 x7, 2.27.3 on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->driver = "550.1"; }, "GPU driver: 570.86.15 x7, 550.1 on server4", Severity::kWarn},
      {[](NodeEntry* e) { e->gpu_model = "NVIDIA H100"; }, "GPU model: NVIDIA H200 x7, NVIDIA H100 on server4",
       Severity::kWarn},
      {[](NodeEntry* e) { e->gpus = 4; }, "GPUs: 8 x7, 4 on server4", Severity::kNote},
      {[](NodeEntry* e) {
         e->network = "10.0.0.0/24";
         e->on_rail = false;
       },
       "bootstrap network: 172.20.0.0/24 x7, 10.0.0.0/24 on server4", Severity::kFail},
  };
  for (const auto& row : rows) {
    const auto got = Compare(WithOneOdd(row.change));
    EXPECT_EQ(Show(got), row.shown);
    ASSERT_FALSE(got.empty()) << row.shown;
    EXPECT_EQ(got[0].severity, row.severity) << row.shown;
    EXPECT_FALSE(got[0].advice.empty());
  }
}

TEST(CompareTest, NoDifference) {
  const std::vector<Change> rows = {
      [](NodeEntry*) {},
      [](NodeEntry* e) { e->nccl.reset(); },
      [](NodeEntry* e) { e->driver.reset(); },
      [](NodeEntry* e) { e->gpus.reset(); },
      [](NodeEntry* e) { e->gpu_model.reset(); },
      [](NodeEntry* e) { e->network.reset(); },  // its own choice
      [](NodeEntry* e) { e->address = "10.9.9.9"; },
      [](NodeEntry* e) { e->layout = "uuuuuuuu"; },
      [](NodeEntry* e) {
        for (auto& rail : e->rails) rail.gbps.reset();
      },
      [](NodeEntry* e) { e->rails[0].mtu.reset(); },
      // Networks of another rack.
      [](NodeEntry* e) {
        for (auto& rail : e->rails) rail.network->address.bytes[13] = 17;
      },
      [](NodeEntry* e) { e->rails[0].network.reset(); },
  };
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(Show(Compare(WithOneOdd(rows[i]))), "") << i;
  EXPECT_TRUE(Compare({}).empty());
  EXPECT_TRUE(Compare(MakeTestEntries(1)).empty());
  auto unknown = MakeTestEntries(3);
  for (auto& entry : unknown) entry.nccl.reset();
  EXPECT_TRUE(Compare(unknown).empty());
}

TEST(CompareTest, AddressesInSlurmMayLieInManyNetworks) {
  auto entries = MakeTestEntries(4);
  for (auto& entry : entries) entry.on_rail = false;
  entries[2].network = "10.3.0.0/24";
  EXPECT_TRUE(Compare(entries).empty());
}

TEST(CompareTest, WithoutAPlanNothingIsGrave) {
  auto entries = WithOneOdd([](NodeEntry* e) { e->rails.pop_back(); });
  for (auto& entry : entries) entry.planned = false;
  const auto got = Compare(entries);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].severity, Severity::kWarn);
}

TEST(CompareTest, ManyNodesAndManyValues) {
  auto entries = MakeTestEntries(1000);
  for (std::size_t i = 100; i < 300; ++i) entries[i].driver = "550.1";
  for (std::size_t i = 0; i < 10; ++i) entries[i * 7].driver = "5" + std::to_string(i);
  std::reverse(entries.begin(), entries.end());
  const auto got = Compare(entries);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].most_count, 790U);
  EXPECT_EQ(got[0].odd[0].nodes, "server[101-300]");
  EXPECT_EQ(got[0].odd[1].nodes, "server1") << "then in the order of the nodes";
  EXPECT_EQ(got[0].odd.size(), 3U);
  EXPECT_EQ(got[0].other_values, 8U);
  EXPECT_EQ(got[0].other_nodes, 8U);
}

}  // namespace
}  // namespace nccl_tune::launcher
