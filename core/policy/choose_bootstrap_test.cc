// SPDX-License-Identifier: Apache-2.0
#include "core/policy/choose_bootstrap.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

using facts::NetdevKind;
using Change = std::function<void(facts::Node*)>;

constexpr const char* kByRail =
    "the interface of mlx5_2:1, the only selected port: the nodes should meet in 172.20.0.0/24";
constexpr const char* kByCable =
    "the interface of mlx5_2:1; both selected ports share its cable: the nodes should meet in 172.20.0.0/24";
constexpr const char* kByAddress = "it carries this node's address in Slurm, which every node reaches";
constexpr const char* kByRoute = "it carries the default route";
constexpr const char* kByElimination = "the only interface that is up with a routable address";
constexpr const char* kNone =
    "several interfaces or none could serve, and neither the node's address nor a default route tells which; the "
    "node's address "
    "would settle it (--node-addr)";

facts::Netdev* Find(facts::Node* node, const std::string& name) {
  for (auto& netdev : node->netdevs) {
    if (netdev.name == name) return &netdev;
  }
  return nullptr;
}

// The ways of a node without rails, each tried once the ones before it do not apply.
TEST(ChooseBootstrapTest, FirstRuleThatApplies) {
  const struct {
    const char* what;
    Change change;
    const char* interface;
    const char* reason;
  } rows[] = {
      {"the rail's cable", [](facts::Node*) {}, "ens5f1", kByRail},
      {"a rail without an address", [](facts::Node* n) { Find(n, "ens5f1")->addresses.clear(); }, "eno1", kByAddress},
      {"a rail that is down", [](facts::Node* n) { Find(n, "ens5f1")->running = false; }, "eno1", kByAddress},
      {"a host route on the rail", [](facts::Node* n) { Find(n, "ens5f1")->addresses[0].prefix.length = 32; }, "eno1",
       kByAddress},
      {"a ring of two cables",
       [](facts::Node* n) {
         n->netdevs.push_back(MakeNetdev("ens11f0", "172.20.1.11"));
         n->hcas.push_back(MakeRoce("mlx5_0", "0000:03:00.0", 25, "ens11f0", "172.20.1.11"));
       },
       "eno1", kByAddress},
      {"two legs of one cage",
       [](facts::Node* n) {
         n->netdevs.push_back(MakeNetdev("ens12f1", "172.20.0.12"));
         n->hcas.push_back(MakeRoce("mlx5_3", "0001:03:00.1", 25, "ens12f1", "172.20.0.12"));
       },
       "ens5f1", kByCable},
      {"two ports of one function",
       [](facts::Node* n) {
         n->hcas[0].ports.push_back(n->hcas[0].ports[0]);
         n->hcas[0].ports[1].number = 2;
       },
       "ens5f1", kByCable},
      {"InfiniBand", [](facts::Node* n) { n->hcas = {MakeIb("mlx5_0", "0000:03:00.0", 200)}; }, "eno1", kByAddress},
      {"no device, address on a bond and its members",
       [](facts::Node* n) {
         n->hcas.clear();
         n->netdevs = {MakeLoopback(), MakeNetdev("eno1", "10.0.0.11"),
                       MakeNetdev("bond0", "10.0.0.11", 24, NetdevKind::kBond), MakeNetdev("eno2", "10.0.0.11")};
         n->netdevs[1].master = n->netdevs[3].master = "bond0";
       },
       "bond0", kByAddress},
      {"an address that no interface has",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = Address("10.9.9.9");
       },
       "eno1", kByRoute},
      {"no address known",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = std::nullopt;
       },
       "eno1", kByRoute},
      {"the lower metric",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = std::nullopt;
         n->routes = {DefaultRoute("eno1", 600), DefaultRoute("ens5f1", 100)};
       },
       "ens5f1", kByRoute},
      {"the first of equal metrics",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = std::nullopt;
         n->routes = {DefaultRoute("ens5f1", 100), DefaultRoute("eno1", 100)};
       },
       "ens5f1", kByRoute},
      {"a default route of an interface that is down",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = std::nullopt;
         Find(n, "eno1")->running = false;
         n->routes = {DefaultRoute("eno1"), DefaultRoute("gone"), DefaultRoute("ens5f1", 900)};
       },
       "ens5f1", kByRoute},
      {"one left",
       [](facts::Node* n) {
         n->hcas.clear();
         n->address = std::nullopt;
         n->routes.clear();
         Find(n, "ens5f1")->running = false;
         n->netdevs.push_back(MakeNetdev("docker0", "172.17.0.1", 16, NetdevKind::kBridge));
         n->netdevs.push_back(MakeNetdev("wg0", "10.8.0.1", 24, NetdevKind::kTunnel));
         n->netdevs.push_back(MakeNetdev("wlan0", "10.7.0.1", 24, NetdevKind::kWireless));
         n->netdevs.push_back(MakeNetdev("usb0", "192.168.42.2"));
         n->netdevs.back().is_usb = true;
       },
       "eno1", kByElimination},
      {"Slingshot before all",
       [](facts::Node* n) {
         n->netdevs.push_back(MakeNetdev("hsn0", "10.150.0.1"));
         n->netdevs.back().driver = "cxi_ss1";
       },
       "hsn0", "a Slingshot interface: NCCL's sockets and its plugin both run over this network"},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    row.change(&node);
    const auto got = ChooseBootstrap(node, SelectPorts(node));
    ASSERT_NE(got.netdev, nullptr) << row.what << ": " << got.reason;
    EXPECT_EQ(got.netdev->name, row.interface) << row.what;
    EXPECT_EQ(got.reason, row.reason) << row.what;
    EXPECT_EQ(got.inferred, got.reason == kByRail || got.reason == kByCable) << row.what;
    EXPECT_FALSE(got.evidence.empty()) << row.what;
    ASSERT_NE(got.Address(), nullptr);
    EXPECT_TRUE(got.Address()->prefix.address.IsRoutable());
  }
}

TEST(ChooseBootstrapTest, NoneWhereNothingIsCertain) {
  const struct {
    const char* what;
    Change change;
  } rows[] = {
      {"two that could serve", [](facts::Node*) {}},
      {"no interface", [](facts::Node* n) { n->netdevs.clear(); }},
      {"loopback only", [](facts::Node* n) { n->netdevs = {MakeLoopback()}; }},
      {"all down",
       [](facts::Node* n) {
         for (auto& netdev : n->netdevs) netdev.running = false;
       }},
      {"no addresses",
       [](facts::Node* n) {
         for (auto& netdev : n->netdevs) netdev.addresses.clear();
       }},
      {"link-local addresses only",
       [](facts::Node* n) {
         n->netdevs = {MakeNetdev("eth0", "169.254.1.1", 16), MakeNetdev("eth1", "fe80::1", 64)};
       }},
      {"a bridge only",
       [](facts::Node* n) { n->netdevs = {MakeNetdev("docker0", "172.17.0.1", 16, NetdevKind::kBridge)}; }},
      {"a loopback with a routable address",
       [](facts::Node* n) {
         n->netdevs = {MakeNetdev("lo", "10.255.0.1", 32, NetdevKind::kLoopback)};
         n->routes = {DefaultRoute("lo")};
       }},
      {"the node's address on an interface that is down",
       [](facts::Node* n) {
         n->address = Address("10.0.0.11");
         Find(n, "eno1")->running = false;
         n->netdevs.push_back(MakeNetdev("x", "10.3.0.1"));
       }},
      {"a default route of an interface that is not here", [](facts::Node* n) { n->routes = {DefaultRoute("*")}; }},
      {"Slingshot that is down",
       [](facts::Node* n) {
         n->netdevs.push_back(MakeNetdev("hsn0", "10.150.0.1"));
         n->netdevs.back().driver = "cxi_ss1";
         n->netdevs.back().running = false;
       }},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    node.hcas.clear();
    node.address = std::nullopt;
    node.routes.clear();
    row.change(&node);
    const auto got = ChooseBootstrap(node, SelectPorts(node));
    EXPECT_EQ(got.netdev, nullptr) << row.what;
    EXPECT_EQ(got.Address(), nullptr) << row.what;
    EXPECT_EQ(got.reason, kNone) << row.what;
  }
}

TEST(ChooseBootstrapTest, SaysWhyTheOthersAreNotTaken) {
  facts::Node node = MakeServer();
  node.hcas.clear();
  node.netdevs = {MakeLoopback(),
                  MakeNetdev("bond0", "10.0.0.11", 24, NetdevKind::kBond),
                  MakeNetdev("eno1", "10.0.0.12"),
                  MakeNetdev("eno2", ""),
                  MakeNetdev("eno3", "10.3.0.1"),
                  MakeNetdev("docker0", "172.17.0.1", 16, NetdevKind::kBridge),
                  MakeNetdev("ens5f1", "172.20.0.11")};
  node.netdevs[2].master = "bond0";
  node.netdevs[4].running = false;
  const auto got = ChooseBootstrap(node, SelectPorts(node));
  ASSERT_NE(got.netdev, nullptr);
  EXPECT_EQ(got.netdev->name, "bond0");
  EXPECT_EQ(Show(got.rejected),
            "eno1: a member of bond0 | eno2: no routable address | eno3: down | "
            "docker0: does not leave this host, or not for jobs | ens5f1: does not carry the node's address");
}

TEST(ChooseBootstrapTest, TheSiteComesFirst) {
  const facts::Node node = MakeServer();
  const auto choose = [&](const SitePolicy& site) { return ChooseBootstrap(node, SelectPorts(node, site), site); };
  const Origin origin{.key = "bootstrap", .line = 4};
  SitePolicy site;
  site.bootstrap = {.value = "eno1", .origin = origin};
  EXPECT_EQ(choose(site).netdev->name, "eno1");
  EXPECT_EQ(choose(site).reason, "named by the site policy, line 4: bootstrap");
  site.bootstrap = {.value = facts::MakePrefix(Address("10.0.0.0"), 24).value(), .origin = origin};
  EXPECT_EQ(choose(site).netdev->name, "eno1");
  site.bootstrap = {.value = "eth9", .origin = origin};
  EXPECT_EQ(choose(site).netdev->name, "ens5f1") << "what it names is not here";
  EXPECT_TRUE(
      choose(site).reason.ends_with("; site policy, line 4: bootstrap names eth9, which this node does not have"))
      << choose(site).reason;
  SitePolicy without;
  InterfaceMatcher matcher;
  matcher.name = "ens*";
  without.exclude_interfaces = {matcher};
  EXPECT_EQ(choose(without).netdev->name, "eno1");
}

// Each is the first card of its PCI domain: no legs of one cable.
TEST(ChooseBootstrapTest, CardsAtTheSamePlaceOfManyDomains) {
  facts::Node node = MakeServer();
  for (int i = 1; i < 4; ++i) {
    const std::string n = std::to_string(i);
    node.netdevs.push_back(MakeNetdev("rail" + n, "172.2" + n + ".0.11"));
    node.hcas.push_back(MakeRoce("mlx5_" + n + "0", "000" + n + ":03:00.1", 25, "rail" + n, "172.2" + n + ".0.11"));
  }
  EXPECT_EQ(ChooseBootstrap(node, SelectPorts(node)).netdev->name, "eno1");
}

}  // namespace
}  // namespace nccl_tune::policy
