// SPDX-License-Identifier: Apache-2.0
#include "launcher/rails.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::launcher {
namespace {

facts::Gid MakeGid(int index, const std::string& address, facts::RoceVersion version = facts::RoceVersion::kV2) {
  return {.index = index, .address = facts::ParseIpAddress(address).value_or({}), .version = version, .netdev = "eth0"};
}

// One card with one port on eth0.
facts::Node MakeNode(facts::LinkLayer layer, std::vector<facts::Gid> gids) {
  facts::Node out;
  facts::Netdev netdev;
  netdev.name = "eth0";
  netdev.ifindex = 2;
  netdev.kind = facts::NetdevKind::kPhysical;
  netdev.admin_up = netdev.running = true;
  netdev.mtu = 4200;
  for (const char* address : {"10.1.2.3/22", "fd00::3/64"})
    netdev.addresses.push_back({.prefix = facts::ParseIpPrefix(address).value_or({})});
  out.netdevs.push_back(std::move(netdev));
  facts::Hca hca;
  hca.name = "mlx5_0";
  hca.node_type = facts::NodeType::kChannelAdapter;
  facts::IbPort port;
  port.number = 1;
  port.state = facts::PortState::kActive;
  port.link_layer = layer;
  port.netdev = "eth0";
  port.gids = std::move(gids);
  hca.ports.push_back(std::move(port));
  out.hcas.push_back(std::move(hca));
  return out;
}

env::PlanPort MakePort(const std::string& link, std::optional<int> gid = std::nullopt) {
  env::PlanPort out;
  out.hca = "mlx5_0";
  out.port = 1;
  out.link = link;
  out.gbps = 400;
  out.gid = gid;
  return out;
}

std::string Show(const facts::Node& node, const env::PlanPort& port) {
  const auto rails = DescribeRails(node, {port});
  return EncodeKinds(rails) + " " + EncodeNetworks(rails);
}

TEST(DescribeRailsTest, WhatMustAgree) {
  using facts::LinkLayer;
  const auto v4 = MakeGid(3, "10.1.2.3");
  const auto v6 = MakeGid(5, "fd00::3");
  struct Row {
    facts::Node node;
    env::PlanPort port;
    std::string shown;
  };
  const std::vector<Row> rows = {
      {MakeNode(LinkLayer::kEthernet, {v4, v6}), MakePort("Ethernet", 3), "E400m4200g46r2 10.1.0.0/22"},
      {MakeNode(LinkLayer::kEthernet, {v4, v6}), MakePort("Ethernet", 5), "E400m4200g64r2 fd00::/64"},
      {MakeNode(LinkLayer::kEthernet, {v4}), MakePort("Ethernet"), "E400m4200g4r2 10.1.0.0/22"},
      {MakeNode(LinkLayer::kEthernet, {v4}), MakePort("Ethernet", 9), "E400m4200g4r2 10.1.0.0/22"},
      {MakeNode(LinkLayer::kEthernet, {MakeGid(2, "10.1.2.3", facts::RoceVersion::kV1)}), MakePort("Ethernet", 2),
       "E400m4200g4r1 10.1.0.0/22"},
      {MakeNode(LinkLayer::kEthernet, {}), MakePort("Ethernet", 3), "E400m4200 -"},
      {MakeNode(LinkLayer::kEthernet, {MakeGid(3, "10.9.9.9")}), MakePort("Ethernet", 3), "E400m4200g4r2 -"},
      {MakeNode(LinkLayer::kInfiniBand, {MakeGid(0, "fe80::5")}), MakePort("InfiniBand"), "I400 fe80::/64"},
      {MakeNode(LinkLayer::kInfiniBand, {}), MakePort("InfiniBand"), "I400 -"},
      {facts::Node{}, MakePort("Ethernet", 3), "E400 -"},
      {facts::Node{}, MakePort(""), "I400 -"},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(row.node, row.port), row.shown);
  EXPECT_TRUE(DescribeRails(facts::Node{}, {}).empty());
  EXPECT_EQ(DescribeRails(facts::Node{}, std::vector(100, MakePort(""))).size(), kMostRails);
}

TEST(DescribeLayoutTest, ALetterForEachPortOfACard) {
  auto node = MakeNode(facts::LinkLayer::kEthernet, {});
  const auto add = [&](const std::string& name, facts::PortState state) -> facts::Hca& {
    facts::Hca hca = node.hcas[0];
    hca.name = name;
    hca.ports[0].state = state;
    node.hcas.push_back(hca);
    return node.hcas.back();
  };
  add("mlx5_4", facts::PortState::kDown);
  add("mlx5_2", facts::PortState::kActive);
  add("mlx5_3", facts::PortState::kActive).is_virtual_function = true;
  add("rxe0", facts::PortState::kActive).is_software = true;
  add("efa0", facts::PortState::kActive).node_type = facts::NodeType::kOther;
  add("mlx5_4", facts::PortState::kActive).ports[0].state.reset();
  EXPECT_EQ(DescribeLayout(node, {MakePort("Ethernet")}), "udoo");
  auto port = MakePort("Ethernet");
  port.hca = "mlx5_2";
  EXPECT_EQ(FindPlace(node, port), 2U);
  port.hca = "mlx5_3";
  EXPECT_EQ(FindPlace(node, port), std::nullopt);
  port.hca = "none";
  EXPECT_EQ(FindPlace(node, port), std::nullopt);
  EXPECT_EQ(DescribeLayout(facts::Node{}, {}), "");
}

}  // namespace
}  // namespace nccl_tune::launcher
