// SPDX-License-Identifier: Apache-2.0
#include "core/policy/choose_gid.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

using facts::RoceVersion;
constexpr RoceVersion kV1 = RoceVersion::kV1;
constexpr RoceVersion kV2 = RoceVersion::kV2;

// A port of "eth0" with these GIDs, on a node with eth0, its VLAN eth0.5, and eth9, which is down.
base::Result<int> Choose(const std::vector<facts::Gid>& gids) {
  facts::Node node;
  node.netdevs = {MakeNetdev("eth0", "10.1.0.1"), MakeNetdev("eth0.5", "10.5.0.1", 24, facts::NetdevKind::kVlan),
                  MakeNetdev("eth9", "10.9.0.1")};
  node.netdevs[2].running = false;
  facts::Hca hca = MakeRoce("mlx5_0", "0000:03:00.0", 100, "eth0", "10.1.0.1");
  hca.ports[0].gids = gids;
  const auto got = ChooseGid(node, hca.ports[0]);
  if (!got.ok()) return got.error();
  return (*got)->index;
}

TEST(ChooseGidTest, ByContent) {
  const struct {
    const char* what;
    std::vector<facts::Gid> gids;
    int index;
  } rows[] = {
      {"the usual table", MakeGids("eth0", "10.1.0.1"), 3},
      {"the same, drifted", MakeGids("eth0", "10.1.0.1", 38), 39},
      {"version 2 comes first", {MakeGid(4, "10.1.0.1", kV2, "eth0"), MakeGid(5, "10.1.0.1", kV1, "eth0")}, 4},
      {"IPv4 before IPv6", {MakeGid(2, "2001:db8::1", kV2, "eth0"), MakeGid(7, "10.1.0.1", kV2, "eth0")}, 7},
      {"IPv6 where there is nothing else",
       {MakeGid(1, "fe80::1", kV2, "eth0"), MakeGid(5, "2001:db8::1", kV2, "eth0")},
       5},
      {"own interface before its VLAN",
       {MakeGid(2, "10.5.0.1", kV2, "eth0.5"), MakeGid(8, "10.1.0.1", kV2, "eth0")},
       8},
      {"the VLAN where the port has no address",
       {MakeGid(1, "fe80::1", kV2, "eth0"), MakeGid(5, "10.5.0.1", kV2, "eth0.5")},
       5},
      {"IPv4 on the VLAN before IPv6",
       {MakeGid(2, "2001:db8::1", kV2, "eth0"), MakeGid(5, "10.5.0.1", kV2, "eth0.5")},
       5},
      {"lowest index of equals", {MakeGid(6, "10.1.0.2", kV2, "eth0"), MakeGid(4, "10.1.0.1", kV2, "eth0")}, 4},
      {"interface not told, address ours", {MakeGid(3, "10.1.0.1", kV2, std::nullopt)}, 3},
      {"one foreign, one ours", {MakeGid(3, "10.7.0.1", kV2, "pod7"), MakeGid(9, "10.1.0.1", kV2, "eth0")}, 9},
      {"one down, one up", {MakeGid(3, "10.9.0.1", kV2, "eth9"), MakeGid(9, "10.1.0.1", kV2, "eth0")}, 9},
  };
  for (const auto& row : rows) {
    const auto got = Choose(row.gids);
    ASSERT_TRUE(got.ok()) << row.what << ": " << got.error().what;
    EXPECT_EQ(*got, row.index) << row.what;
  }
}

// What works on the own network or over one cable is taken where there is nothing better.
TEST(ChooseGidTest, TheLesserOnes) {
  const facts::Gid v1 = MakeGid(2, "10.1.0.1", kV1, "eth0");
  const facts::Gid cable1 = MakeGid(4, "169.254.3.1", kV1, "eth0");
  const facts::Gid cable = MakeGid(5, "169.254.3.1", kV2, "eth0");
  const facts::Gid best = MakeGid(7, "10.1.0.1", kV2, "eth0");
  EXPECT_EQ(*Choose({v1}), 2);
  EXPECT_EQ(*Choose({cable1, cable}), 5);
  EXPECT_EQ(*Choose({v1, cable}), 5) << "v2 over the cable before v1";
  EXPECT_EQ(*Choose({cable, best, v1}), 7);
  EXPECT_EQ(*Choose({cable1, v1}), 2);
}

// What could not be read may be what is missing.
TEST(ChooseGidTest, InDoubtItIsNotKnownToBeMissing) {
  facts::Node node = MakeServer();
  auto& port = node.hcas[0].ports[0];
  port.gids_in_doubt = true;
  EXPECT_TRUE(ChooseGid(node, port).ok()) << "the right one is there";
  port.gids.resize(2);
  EXPECT_EQ(ChooseGid(node, port).error().what, "its GID table could not be read in full");
  EXPECT_EQ(ChooseGid(node, port).error().code, base::Code::kUnreadable);
}

TEST(ChooseGidTest, SaysWhatIsMissing) {
  const char* local = "it has link-local GIDs only, which do not leave the link: its interface has no address";
  const char* foreign = "its routable GIDs belong to another network namespace";
  const struct {
    const char* what;
    std::vector<facts::Gid> gids;
    const char* message;
  } rows[] = {
      {"no entry", {}, "its GID table is empty in this network namespace"},
      {"link-local v6", {MakeGid(0, "fe80::1", kV1, "eth0"), MakeGid(1, "fe80::1", kV2, "eth0")}, local},
      {"loopback", {MakeGid(0, "127.0.0.1", kV2, "eth0")}, local},
      {"multicast", {MakeGid(0, "ff02::1", kV2, "eth0")}, local},
      {"version not read",
       {MakeGid(3, "10.1.0.1", std::nullopt, "eth0")},
       "the RoCE version of its routable GID cannot be read"},
      {"foreign interface", {MakeGid(3, "10.1.0.1", kV2, "pod7")}, foreign},
      {"interface hidden, address not ours", {MakeGid(3, "10.7.0.1", kV2, std::nullopt)}, foreign},
      {"foreign beside version 1", {MakeGid(3, "10.7.0.1", kV2, "pod7"), MakeGid(2, "fe80::1", kV1, "eth0")}, foreign},
      {"down", {MakeGid(3, "10.9.0.1", kV2, "eth9")}, "the interface of its only routable GID is down"},
      {"down, interface hidden",
       {MakeGid(3, "10.9.0.1", kV2, std::nullopt)},
       "the interface of its only routable GID is down"},
  };
  for (const auto& row : rows) {
    const auto got = Choose(row.gids);
    ASSERT_FALSE(got.ok()) << row.what << " gave " << *got;
    EXPECT_EQ(got.error().what, row.message) << row.what;
    EXPECT_EQ(got.error().code, base::Code::kNotFound);
  }
}

// Verbs holds the index in 8 bits: a later entry cannot be asked for.
TEST(ChooseGidTest, EntriesBeyondVerbsReachDoNotCount) {
  facts::Node node = MakeServer();
  auto& port = node.hcas[0].ports[0];
  port.gids = MakeGids("ens5f1", "172.20.0.11", 254);
  ASSERT_TRUE(ChooseGid(node, port).ok());
  EXPECT_EQ((*ChooseGid(node, port))->index, 255);
  port.gids = MakeGids("ens5f1", "172.20.0.11", 256);
  EXPECT_FALSE(ChooseGid(node, port).ok());
}

}  // namespace
}  // namespace nccl_tune::policy
