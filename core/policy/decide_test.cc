// SPDX-License-Identifier: Apache-2.0
#include "core/policy/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

constexpr const char* kPlain = "GLOO_SOCKET_IFNAME=ens5f1 TP_SOCKET_IFNAME=ens5f1";

using Change = std::function<void(facts::Node*)>;

// "NAME=VALUE" of what is set, in the order of the rules: NCCL's own variables, or those of the libraries beside it.
std::string Values(const facts::Node& node, bool nccl = true, const Preferences& preferences = {}) {
  std::string out;
  for (const auto& d : Decide(Assess(node, preferences))) {
    if (d.value && d.variable.starts_with("NCCL_") == nccl)
      out += (out.empty() ? "" : " ") + d.variable + "=" + *d.value;
  }
  return out;
}

std::string Reason(const facts::Node& node, std::string_view variable) {
  for (const auto& d : Decide(Assess(node))) {
    if (d.variable == variable) return d.reason;
  }
  return "no such variable";
}

TEST(DecideTest, OneDecisionARuleAndAlwaysAReason) {
  const auto node = MakeServer();
  const auto got = Decide(Assess(node));
  ASSERT_EQ(got.size(), Rules().size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].variable, Rules()[i].variable);
    EXPECT_FALSE(got[i].reason.empty()) << got[i].variable;
    EXPECT_FALSE(got[i].reason.ends_with('.')) << got[i].variable;
    EXPECT_FALSE(Rules()[i].summary.empty());
    EXPECT_FALSE(Rules()[i].source.empty());
    if (got[i].value) {
      EXPECT_FALSE(got[i].evidence.empty()) << got[i].variable;
    }
  }
}

TEST(DecideTest, Values) {
  const char* usual = "NCCL_IB_HCA==mlx5_2:1 NCCL_IB_GID_INDEX=3 NCCL_SOCKET_IFNAME==ens5f1";
  const auto second = [](const char* netdev, const char* address, int gid) {
    return Change([=](facts::Node* n) {
      n->netdevs.push_back(MakeNetdev(netdev, address));
      n->hcas.push_back(MakeRoce("mlx5_2", "0000:04:00.0", 25, netdev, address, gid));
    });
  };
  const struct {
    const char* what;
    Change change;
    const char* values;
  } rows[] = {
      {"the server", [](facts::Node*) {}, usual},
      {"index 40", [](facts::Node* n) { n->hcas[0].ports[0].gids = MakeGids("ens5f1", "172.20.0.11", 39); },
       "NCCL_IB_HCA==mlx5_2:1 NCCL_IB_GID_INDEX=40 NCCL_SOCKET_IFNAME==ens5f1"},
      {"two rails, one index", second("ens12", "172.17.0.11", 2),
       "NCCL_IB_HCA==mlx5_2:1,mlx5_2:1 NCCL_IB_GID_INDEX=3 NCCL_SOCKET_IFNAME==eno1"},
      {"two rails, two indices", second("ens12", "172.17.0.11", 4),
       "NCCL_IB_HCA==mlx5_2:1,mlx5_2:1 NCCL_SOCKET_IFNAME==eno1"},
      {"InfiniBand", [](facts::Node* n) { n->hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)}; },
       "NCCL_IB_HCA==mlx5_0:1 NCCL_SOCKET_IFNAME==eno1"},
      {"no device", [](facts::Node* n) { n->hcas.clear(); }, "NCCL_SOCKET_IFNAME==eno1"},
      {"port down", [](facts::Node* n) { n->hcas[0].ports[0].state = facts::PortState::kDown; },
       "NCCL_SOCKET_IFNAME==eno1"},
      {"a trap: link-local only", [](facts::Node* n) { n->hcas[0].ports[0].gids.resize(2); },
       "NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME==eno1"},
      {"version 1 only", [](facts::Node* n) { n->hcas[0].ports[0].gids.resize(3); },
       "NCCL_IB_HCA==mlx5_2:1 NCCL_IB_GID_INDEX=2 NCCL_SOCKET_IFNAME==ens5f1"},
      {"no trap: what could not be read",
       [](facts::Node* n) {
         n->hcas[0].ports[0].gids.resize(2);
         n->hcas[0].ports[0].gids_in_doubt = true;
       },
       "NCCL_SOCKET_IFNAME==eno1"},
      {"a trap: software device", [](facts::Node* n) { n->hcas[0].is_software = true; },
       "NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME==eno1"},
      {"not openable is no trap", [](facts::Node* n) { n->hcas[0].openable = facts::Openable::kNo; },
       "NCCL_SOCKET_IFNAME==eno1"},
      {"EFA",
       [](facts::Node* n) {
         n->hcas[0].driver = "efa";
         n->hcas[0].ports[0].link_layer = facts::LinkLayer::kOther;
       },
       "NCCL_SOCKET_IFNAME==eno1"},
      {"Slingshot",
       [](facts::Node* n) {
         n->hcas.clear();
         n->netdevs.push_back(MakeNetdev("hsn0", "10.150.0.1"));
         n->netdevs.back().driver = "cxi_ss1";
       },
       "NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME==hsn0"},
      {"nothing certain",
       [](facts::Node* n) {
         n->hcas.clear();
         n->routes.clear();
         n->address = std::nullopt;
       },
       ""},
      {"nothing at all", [](facts::Node* n) { *n = facts::Node{}; }, ""},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    row.change(&node);
    EXPECT_EQ(Values(node), row.values) << row.what;
    EXPECT_EQ(Values(node), row.values) << row.what << ", again";
    for (const auto& d : Decide(Assess(node))) EXPECT_FALSE(d.reason.empty()) << row.what << " " << d.variable;
  }
}

TEST(DecideTest, ReasonsOfWhatStaysUnset) {
  facts::Node node = MakeServer();
  node.hcas.push_back(MakeRoce("mlx5_2", "0000:04:00.0", 25, "ens12", "172.17.0.11", 4));
  node.netdevs.push_back(MakeNetdev("ens12", "172.17.0.11"));
  EXPECT_EQ(
      Reason(node, "NCCL_IB_GID_INDEX"),
      "the right index differs between the selected ports and one number serves all; NCCL's own choice for each port "
      "(2.21 and later) is right");
  EXPECT_EQ(Reason(node, "NCCL_IB_DISABLE"), "RDMA ports are usable");
  node.hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)};
  EXPECT_EQ(Reason(node, "NCCL_IB_GID_INDEX"), "InfiniBand ports need none");
  node.hcas.clear();
  EXPECT_EQ(Reason(node, "NCCL_IB_HCA"), "this node has no RDMA device");
  EXPECT_EQ(Reason(node, "NCCL_IB_GID_INDEX"), "no port is selected");
  EXPECT_EQ(Reason(node, "NCCL_IB_DISABLE"), "there is no RDMA port that NCCL could take by mistake");
}

facts::Gpu MakeGpu(std::string_view pci, facts::GpuVendor vendor = facts::GpuVendor::kNvidia) {
  facts::Gpu out;
  const auto address = facts::ParsePciAddress(pci);
  if (address.ok()) out.pci = *address;
  out.vendor = vendor;
  return out;
}

// Two GPUs with a rail each on networks of their own.
facts::Node MakeRails() {
  facts::Node node = MakeServer();
  node.hcas.push_back(MakeRoce("mlx5_3", "0000:04:00.0", 25, "ens12", "172.21.0.11"));
  node.netdevs.push_back(MakeNetdev("ens12", "172.21.0.11"));
  node.gpus = {MakeGpu("0000:03:01.0"), MakeGpu("0000:04:01.0")};
  for (const char* network : {"172.20.0.0", "172.21.0.0"}) {
    const char* interface = network == std::string_view("172.20.0.0") ? "ens5f1" : "ens12";
    node.routes.push_back({.destination = facts::MakePrefix(Address(network), 24).value(), .interface = interface});
  }
  return node;
}

void MakeBond(facts::Node* node, const std::string& name) {
  for (auto& netdev : node->netdevs) {
    if (netdev.name == name) netdev.kind = facts::NetdevKind::kBond;
  }
}

TEST(DecideTest, RailsApart) {
  const facts::Route beyond{.destination = facts::MakePrefix(Address("172.0.0.0"), 8).value(), .interface = "ens12"};
  const struct {
    const char* what;
    Change change;
    const char* reason;  // empty: 0 is set
  } rows[] = {
      {"a rail for each GPU", [](facts::Node*) {}, ""},
      {"the rails' routes cannot be read", [](facts::Node* n) { n->routes.resize(1); },
       "the rails' routes could not be read"},
      {"a route to hosts of the rail itself",
       [](facts::Node* n) {
         n->routes.push_back(
             {.destination = facts::MakePrefix(Address("172.21.0.128"), 25).value(), .interface = "ens12"});
       },
       ""},
      {"a route beyond", [&](facts::Node* n) { n->routes.push_back(beyond); },
       "routers may lead from one rail to another"},
      {"default routes over the rails",
       [](facts::Node* n) {
         n->routes.push_back(DefaultRoute("ens12", 500));
         n->routes.push_back(DefaultRoute("ens5f1", 500));
       },
       "routers may lead from one rail to another"},
      {"links between two", [](facts::Node* n) { n->netdevs.back().addresses[0].prefix.length = 31; },
       "routers may lead from one rail to another"},
      {"a host's address", [](facts::Node* n) { n->netdevs.back().addresses[0].prefix.length = 32; },
       "routers may lead from one rail to another"},
      {"one network", [](facts::Node* n) { n->netdevs.back().addresses[0].prefix.length = 8; },
       "rails share a network, so they reach each other"},
      {"one GPU: a ring of cables", [](facts::Node* n) { n->gpus.resize(1); },
       "not a rail for each GPU, so a ring may have to change rails"},
      {"no GPU seen", [](facts::Node* n) { n->gpus.clear(); },
       "not a rail for each GPU, so a ring may have to change rails"},
      {"three GPUs, two rails", [](facts::Node* n) { n->gpus.push_back(MakeGpu("0000:05:00.0")); },
       "not a rail for each GPU, so a ring may have to change rails"},
      {"no port", [](facts::Node* n) { n->hcas.clear(); }, "no port is selected"},
      {"InfiniBand",
       [](facts::Node* n) {
         n->hcas = {MakeIb("a", "0000:01:00.0", 400), MakeIb("b", "0000:02:00.0", 400)};
       },
       "InfiniBand: whether rails reach each other cannot be read here"},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeRails();
    row.change(&node);
    const bool set = Values(node).find("NCCL_CROSS_NIC=0") != std::string::npos;
    EXPECT_EQ(set, row.reason[0] == '\0') << row.what << ": " << Reason(node, "NCCL_CROSS_NIC");
    if (!set) {
      EXPECT_EQ(Reason(node, "NCCL_CROSS_NIC"), row.reason) << row.what;
    }
  }
}

void MakeLossless(facts::Node* node) {
  for (auto& netdev : node->netdevs) {
    if (netdev.name.starts_with("ens")) netdev.dcb = facts::Dcb{.pfc = 8, .dscp = {{26, 3}}, .trust = {}};
  }
}

TEST(DecideTest, TheOneLosslessClass) {
  facts::Node node = MakeServer();
  MakeLossless(&node);
  EXPECT_EQ(Values(node),
            "NCCL_IB_HCA==mlx5_2:1 NCCL_IB_GID_INDEX=3 NCCL_IB_TC=106 NCCL_IB_FIFO_TC=106 NCCL_SOCKET_IFNAME==ens5f1");
  EXPECT_EQ(Reason(node, "NCCL_IB_TC"),
            "DSCP 26 alone leads to priority 3, the only lossless one of every port; x 4, and 2 so that switches mark "
            "packets (ECN) rather than drop them");
  node.hcas[0].name = "a,b";
  EXPECT_EQ(Reason(node, "NCCL_IB_TC"), "the ports cannot be listed, and this is right for these only");
  node = MakeRails();
  MakeLossless(&node);
  EXPECT_NE(Values(node).find("NCCL_IB_TC=106 NCCL_IB_FIFO_TC=106"), std::string::npos);
  node.hcas[1].ports[0].host_traffic_class = "106";
  EXPECT_EQ(Values(node).find("_TC"), std::string::npos);
  node.hcas = {MakeIb("a", "0000:01:00.0", 400)};
  node.hcas[0].ports[0].netdev = "ens5f1";
  EXPECT_EQ(Values(node).find("_TC"), std::string::npos);
}

// Worth a word only where some priority is lossless.
TEST(DecideTest, NoLosslessPriorityIsUsual) {
  const auto usual = [](const facts::Node& node) {
    std::string out;
    for (const auto& d : Decide(Assess(node))) {
      if (d.is_usual) out += d.variable + " ";
      EXPECT_FALSE(d.is_usual && d.value) << d.variable;
    }
    return out;
  };
  facts::Node node = MakeServer();
  EXPECT_EQ(usual(node), "NCCL_IB_TC NCCL_IB_FIFO_TC ");
  MakeLossless(&node);
  EXPECT_EQ(usual(node), "");
  node.hcas[0].ports[0].host_traffic_class = "106";
  EXPECT_EQ(usual(node), "NCCL_IB_FIFO_TC ");
  EXPECT_EQ(usual({}), "NCCL_IB_TC NCCL_IB_FIFO_TC ");
}

TEST(DecideTest, TheTransportIsNamedInModeStrictOnly) {
  const auto net = [](const facts::Node& node, const Preferences& preferences) {
    for (const auto& decision : Decide(Assess(node, preferences))) {
      if (decision.variable == "NCCL_NET") return decision.value.value_or("unset: " + decision.reason);
    }
    return std::string("no rule");
  };
  Preferences strict;
  strict.strict = true;
  EXPECT_EQ(net(MakeServer(), {}), "unset: only --nccl-tune=strict or the site's policy sets it");
  EXPECT_EQ(net(MakeServer(), strict), "IB");
  EXPECT_EQ(net(facts::Node{}, strict), "unset: no port is selected");
  strict.net_plugin = "/opt/lib/libnccl-net.so";
  EXPECT_EQ(net(MakeServer(), strict), "unset: another net plugin is there: /opt/lib/libnccl-net.so");
}

TEST(DecideTest, BondsGetSeveralQueuePairs) {
  facts::Node node = MakeRails();
  EXPECT_EQ(Reason(node, "NCCL_IB_QPS_PER_CONNECTION"), "the selected ports are no bonds");
  MakeBond(&node, "ens5f1");
  EXPECT_EQ(Reason(node, "NCCL_IB_QPS_PER_CONNECTION"), "the selected ports are no bonds") << "one of two";
  MakeBond(&node, "ens12");
  EXPECT_NE(Values(node).find("NCCL_IB_QPS_PER_CONNECTION=4"), std::string::npos);
}

TEST(DecideTest, VariablesOfOtherLibraries) {
  const std::string nvshmem = std::string(kPlain) + " NVSHMEM_HCA_LIST=mlx5_2:1 NVSHMEM_IB_GID_INDEX=3";
  const struct {
    const char* what;
    Change change;
    bool mpi;
    std::string values;
  } rows[] = {
      {"no GPU", [](facts::Node*) {}, false, kPlain},
      {"a GPU", [](facts::Node* n) { n->gpus = {MakeGpu("0000:04:00.0")}; }, false, nvshmem},
      {"a GPU of AMD", [](facts::Node* n) { n->gpus = {MakeGpu("0000:04:00.0", facts::GpuVendor::kAmd)}; }, false,
       kPlain},
      {"MPI", [](facts::Node*) {}, true,
       std::string(kPlain) + " UCX_NET_DEVICES=mlx5_2:1,ens5f1 OMPI_MCA_btl_tcp_if_include=ens5f1"},
      {"MPI without ports", [](facts::Node* n) { n->hcas.clear(); }, true,
       "GLOO_SOCKET_IFNAME=eno1 TP_SOCKET_IFNAME=eno1 OMPI_MCA_btl_tcp_if_include=eno1"},
      {"nothing certain",
       [](facts::Node* n) {
         n->hcas.clear();
         n->routes.clear();
         n->address = std::nullopt;
       },
       true, ""},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    row.change(&node);
    EXPECT_EQ(Values(node, false, {.mpi = row.mpi}), row.values) << row.what;
  }
}

// A rule may look back only: the plan settles one after another.
TEST(RulesTest, FollowKnownVariables) {
  for (const auto& rule : Rules()) {
    EXPECT_FALSE(rule.summary.empty() || rule.source.empty()) << rule.variable;
    EXPECT_EQ(std::count_if(Rules().begin(), Rules().end(), [&](const Rule& r) { return r.variable == rule.variable; }),
              1)
        << rule.variable;
    EXPECT_EQ(rule.follows.find(rule.variable), std::string_view::npos) << rule.variable;
    EXPECT_EQ((rule.since.major == 0), !rule.variable.starts_with("NCCL_")) << rule.variable;
  }
}

// Whatever a name holds, no value holds what NCCL's grammar would read as something else.
TEST(DecideTest, OddNamesAreNeverInAValue) {
  for (const std::string& name :
       {std::string("mlx5,1"), std::string("mlx5:1"), std::string("mlx5 1"), std::string("mlx5\n1"),
        std::string("mlx5\x1b[0m"), std::string("mlx5\t1"), std::string("=mlx5"), std::string("^mlx5"),
        std::string("\xc3\xa9"), std::string(200, 'x'), std::string(64, 'x'), std::string("a\0b", 3), std::string()}) {
    facts::Node hca = MakeServer();
    hca.hcas[0].name = name;
    EXPECT_EQ(Values(hca), "NCCL_SOCKET_IFNAME==ens5f1") << name;
    EXPECT_EQ(Values(hca, false, {.mpi = true}), kPlain + std::string(" OMPI_MCA_btl_tcp_if_include=ens5f1")) << name;
    EXPECT_EQ(Reason(hca, "NCCL_IB_HCA"), "the selected ports cannot stand in a list (" + Assess(hca).why_no_list +
                                              "); leaving the choice to NCCL");
    EXPECT_EQ(Reason(hca, "NCCL_IB_GID_INDEX"), "the ports cannot be listed, and this is right for these only");
    facts::Node netdev = MakeServer();
    netdev.hcas.clear();
    netdev.netdevs[1].name = name;
    EXPECT_EQ(Values(netdev), "") << name;
    EXPECT_EQ(Values(netdev, false, {.mpi = true}), "") << name;
    EXPECT_EQ(Reason(netdev, "NCCL_SOCKET_IFNAME"),
              "the interface's name cannot stand in a list; leaving the choice to NCCL");
  }
  facts::Node longest = MakeServer();
  longest.hcas[0].name = std::string(63, 'x');
  EXPECT_EQ(Values(longest),
            "NCCL_IB_HCA==" + std::string(63, 'x') + ":1 NCCL_IB_GID_INDEX=3 NCCL_SOCKET_IFNAME==ens5f1");
}

TEST(DecideTest, SaysWhyTheOtherIndicesAreWrong) {
  facts::Node node = MakeServer();
  node.hcas[0].ports[0].gids.push_back(MakeGid(5, "2001:db8::1", facts::RoceVersion::kV2, "ens5f1"));
  const auto all = Decide(Assess(node));
  const auto gid =
      std::find_if(all.begin(), all.end(), [](const auto& d) { return d.variable == "NCCL_IB_GID_INDEX"; });
  ASSERT_NE(gid, all.end());
  EXPECT_EQ(gid->reason, "RoCE v2 entry of 172.20.0.11 on ens5f1");
  EXPECT_EQ(Show(gid->rejected),
            "index 0: link-local: does not leave the link | index 1: link-local: does not leave the link | "
            "index 2: RoCE v1: not routed | index 5: not the port's first own address");
  ASSERT_EQ(gid->evidence.size(), 1u);
  EXPECT_EQ(gid->evidence[0].where, "sys/class/infiniband/mlx5_2/ports/1/gids/3");
  EXPECT_EQ(gid->evidence[0].value, "172.20.0.11 RoCE v2");
}

}  // namespace
}  // namespace nccl_tune::policy
