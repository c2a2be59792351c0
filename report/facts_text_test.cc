// SPDX-License-Identifier: Apache-2.0
#include "report/facts_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "core/policy/test_nodes.h"

namespace nccl_tune::report {
namespace {

facts::Node Server() {
  facts::Node node = policy::MakeServer();
  node.netdevs[2].mtu = 9000;
  node.netdevs[2].speed = facts::GbitPerSecond{25};
  node.netdevs[1].running = false;
  node.netdevs[1].master = "bond0";
  node.hcas.push_back(policy::MakeIb("mlx5_0", "0000:02:00.0", 2.5));
  node.hcas.back().openable = facts::Openable::kNo;
  node.hcas.push_back(policy::MakeIb("odd\x1b", "", 200));
  node.hcas.back().ports[0] = {};
  node.hcas.back().openable = facts::Openable::kMissing;
  facts::Gpu gpu;
  gpu.pci = {.domain = 0, .bus = 4, .device = 0, .function = 0};
  gpu.numa_node = 1;
  node.gpus = {gpu};
  node.routes.push_back({.destination = facts::IpPrefix{.address = policy::Address("172.20.0.0"), .length = 24},
                         .interface = "ens5f1",
                         .metric = 7});
  node.notes = {{.where = "sys/x", .what = "Permission denied"}};
  return node;
}

facts::NodeDetails Details() {
  facts::NodeDetails out;
  out.kernel = "6.1.0";
  out.notes = {{.where = "sys/y", .what = "not a link width"}};
  return out;
}

TEST(FactsTextTest, OneMachine) {
  const auto got = FactsText(Server(), {}, {});
  EXPECT_EQ(got, R"(RDMA ports
  mlx5_2:1          ACTIVE, Ethernet, 25 Gb/s, ens5f1, 0000:03:00.1, mlx5_core
      gid 0         fe80::5eff:fe00:1 RoCE v1 ens5f1
      gid 1         fe80::5eff:fe00:1 RoCE v2 ens5f1
      gid 2         172.20.0.11 RoCE v1 ens5f1
      gid 3         172.20.0.11 RoCE v2 ens5f1
  mlx5_0:1          ACTIVE, InfiniBand, 2.5 Gb/s, lid 18, 0000:02:00.0,
                    mlx5_core, uverbs0 may not be opened
  odd\x1b:0         state unknown, mlx5_core, no uverbs node
Interfaces
  lo                loopback, up, 127.0.0.1/8
  eno1              physical, down, member of bond0, 10.0.0.11/24
  ens5f1            physical, up, 25 Gb/s, MTU 9000, 172.20.0.11/24
GPUs
  0000:04:00.0      NVIDIA, NUMA 1
Default routes
  eno1              metric 0
Node address        10.0.0.11
Not read
  sys/x: Permission denied
)");
  EXPECT_EQ(FactsText({}, {}, {}), "RDMA ports\nInterfaces\nGPUs\nDefault routes\n");
}

TEST(FactsTextTest, DetailsAndConfFilesStandBeforeTheNotes) {
  nccl::ConfFile site;
  site.path = "/etc/nccl.conf";
  site.settings = {{.name = "NCCL_DEBUG", .value = "INFO", .line = 1}};
  const auto got = FactsText(Server(), Details(), {site});
  EXPECT_TRUE(got.ends_with(R"(Node address        10.0.0.11
Machine
  kernel            6.1.0
NCCL's configuration files
  /etc/nccl.conf
    line 1          NCCL_DEBUG=INFO
Not read
  sys/x: Permission denied
  sys/y: not a link width
)")) << got;
}

TEST(FactsTextTest, WhatKeepsTrafficFromBeingDropped) {
  facts::Node node = Server();
  EXPECT_EQ(FactsJson(node, {}, {}).find("dcb"), std::string::npos);
  auto& dcb = node.netdevs.back().dcb.emplace();
  const auto line = [&] {
    const std::string text = FactsText(node, {}, {});
    const auto at = text.find("  ens5f1    ");
    return text.substr(at, text.find("GPUs") - at);
  };
  EXPECT_EQ(line(), "  ens5f1            physical, up, 25 Gb/s, MTU 9000, 172.20.0.11/24\n");
  dcb.pfc = 0x18;
  dcb.dscp = {{.dscp = 24, .priority = 3}, {.dscp = 26, .priority = 3}, {.dscp = 48, .priority = 6}};
  dcb.trust = "dscp";
  EXPECT_EQ(line(),
            "  ens5f1            physical, up, 25 Gb/s, MTU 9000, PFC on priority 3 (DSCP 24\n"
            "                    26), PFC on priority 4, 172.20.0.11/24\n");
  const auto json = base::ParseJson(FactsJson(node, {}, {}));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(base::DumpJson(base::GetMember(base::GetMember(*json, "netdevs").back(), "dcb")),
            R"({"pfc":[3,4],"dscp":[[24,3],[26,3],[48,6]],"trust":"dscp"})");
}

TEST(FactsTextTest, WhatAnInterfaceIsMadeOf) {
  facts::Node node;
  const auto add = [&](const char* name) -> facts::Netdev& {
    facts::Netdev netdev;
    netdev.name = name;
    netdev.running = true;
    return node.netdevs.emplace_back(netdev);
  };
  auto& bond = add("bond0");
  bond.kind = facts::NetdevKind::kBond;
  bond.bond_mode = "802.3ad";
  bond.members = {"eth0", "eth1"};
  auto& vlan = add("bond0.7");
  vlan.kind = facts::NetdevKind::kVlan;
  vlan.vlan_id = 7;
  vlan.parent = "bond0";
  auto& ipoib = add("ib0.8001");
  ipoib.kind = facts::NetdevKind::kIpoib;
  ipoib.pkey = 0x8001;
  auto& bmc = add("usb0");
  bmc.kind = facts::NetdevKind::kPhysical;
  bmc.is_usb = bmc.is_usb_peer = true;
  bmc.carrier = false;
  const auto got = FactsText(node, {}, {});
  for (const char* line :
       {"  bond0             bond, up, 802.3ad, over eth0 eth1\n", "  bond0.7           vlan, up, VLAN 7, on bond0\n",
        "  ib0.8001          ipoib, up, P_Key 32769\n",
        "  usb0              physical, up, no carrier, USB to another computer (a BMC?)\n"}) {
    EXPECT_NE(got.find(line), std::string::npos) << got;
  }
}

TEST(FactsTextTest, NoLineIsWiderThanTheTerminal) {
  facts::Node node = Server();
  for (int i = 1; i < 40; ++i) {
    node.netdevs[2].addresses.push_back(
        {.prefix = {.address = policy::Address("2001:db8::" + std::to_string(i)), .length = 64}});
  }
  node.notes.push_back(
      {.where = std::string(70, 'x'), .what = "a long clause about what could not be read and why that is so"});
  const std::string text = FactsText(node, {}, {});
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(FactsJsonTest, HoldsEveryFact) {
  const auto json = base::ParseJson(FactsJson(Server(), Details(), {}));
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(base::GetInteger(*json, "version"), 1);
  EXPECT_EQ(base::GetString(*json, "node_address"), "10.0.0.11");
  const auto& hcas = base::GetMember(*json, "hcas");
  ASSERT_EQ(hcas.size(), 3u);
  EXPECT_EQ(base::GetString(hcas[0], "name"), "mlx5_2");
  EXPECT_EQ(base::GetString(hcas[0], "pci"), "0000:03:00.1");
  EXPECT_EQ(base::GetString(hcas[0], "openable"), "yes");
  EXPECT_EQ(base::GetString(hcas[1], "openable"), "no");
  EXPECT_EQ(base::GetString(hcas[2], "openable"), "missing");
  EXPECT_TRUE(base::GetMember(hcas[2], "pci").is_null());
  const auto& port = base::GetMember(hcas[0], "ports")[0];
  EXPECT_EQ(base::GetString(port, "state"), "ACTIVE");
  EXPECT_EQ(base::GetString(port, "link_layer"), "Ethernet");
  EXPECT_EQ(base::GetString(port, "netdev"), "ens5f1");
  EXPECT_TRUE(base::GetMember(port, "lid").is_null());
  const auto& gid = base::GetMember(port, "gids")[3];
  EXPECT_EQ(base::GetInteger(gid, "index"), 3);
  EXPECT_EQ(base::GetString(gid, "address"), "172.20.0.11");
  EXPECT_EQ(base::GetString(gid, "roce"), "v2");
  EXPECT_TRUE(base::GetMember(base::GetMember(hcas[2], "ports")[0], "state").is_null());
  const auto& netdev = base::GetMember(*json, "netdevs")[2];
  EXPECT_EQ(base::GetString(netdev, "kind"), "physical");
  EXPECT_EQ(base::GetBool(netdev, "running"), true);
  EXPECT_EQ(base::GetInteger(netdev, "mtu"), 9000);
  EXPECT_EQ(base::GetMember(*json, "gpus").size(), 1u);
  const auto& routes = base::GetMember(*json, "routes");
  EXPECT_EQ(base::GetString(routes[0], "destination"), "default");
  EXPECT_EQ(base::GetString(routes[1], "destination"), "172.20.0.0/24");
  EXPECT_EQ(base::GetInteger(routes[1], "metric"), 7);
  EXPECT_TRUE(base::GetMember(netdev, "vlan").is_null());
  EXPECT_TRUE(base::GetMember(hcas[0], "physical_function").is_null());
  EXPECT_EQ(base::GetString(base::GetMember(*json, "details"), "kernel"), "6.1.0");
  EXPECT_TRUE(base::GetMember(*json, "conf_files").empty());
  EXPECT_EQ(base::GetString(base::GetMember(*json, "notes")[0], "where"), "sys/x");
  EXPECT_EQ(base::GetString(base::GetMember(*json, "notes")[1], "where"), "sys/y");
}

}  // namespace
}  // namespace nccl_tune::report
