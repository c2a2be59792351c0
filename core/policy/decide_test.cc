// SPDX-License-Identifier: Apache-2.0
#include "core/policy/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

using Change = std::function<void(facts::Node*)>;

// "NAME=VALUE" of what is set, in the order of the rules.
std::string Values(const facts::Node& node) {
  std::string out;
  for (const auto& d : Decide(Assess(node))) {
    if (d.value) out += (out.empty() ? "" : " ") + d.variable + "=" + *d.value;
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
    EXPECT_EQ(got[i].value.has_value(), got[i].variable != "NCCL_IB_DISABLE");
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
      {"a trap: version 1 only", [](facts::Node* n) { n->hcas[0].ports[0].gids.resize(3); },
       "NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME==eno1"},
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
  EXPECT_EQ(Reason(node, "NCCL_IB_GID_INDEX"),
            "the right index differs between the selected ports, and one number serves all; NCCL 2.21 and later choose "
            "for each port");
  EXPECT_EQ(Reason(node, "NCCL_IB_DISABLE"), "RDMA ports are usable");
  node.hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)};
  EXPECT_EQ(Reason(node, "NCCL_IB_GID_INDEX"), "InfiniBand ports need none");
  node.hcas.clear();
  EXPECT_EQ(Reason(node, "NCCL_IB_HCA"), "this node has no RDMA device");
  EXPECT_EQ(Reason(node, "NCCL_IB_GID_INDEX"), "no port is selected");
  EXPECT_EQ(Reason(node, "NCCL_IB_DISABLE"), "NCCL finds no RDMA port by itself either");
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
    EXPECT_EQ(Reason(hca, "NCCL_IB_HCA"),
              "the name of a port's device cannot stand in a list; leaving the choice to NCCL");
    EXPECT_EQ(Reason(hca, "NCCL_IB_GID_INDEX"), "the ports cannot be listed, and the index is right for these only");
    facts::Node netdev = MakeServer();
    netdev.hcas.clear();
    netdev.netdevs[1].name = name;
    EXPECT_EQ(Values(netdev), "") << name;
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
            "index 2: RoCE v1: not routed | index 5: not the port's first own routable address");
  ASSERT_EQ(gid->evidence.size(), 1u);
  EXPECT_EQ(gid->evidence[0].where, "sys/class/infiniband/mlx5_2/ports/1/gids/3");
  EXPECT_EQ(gid->evidence[0].value, "172.20.0.11 RoCE v2");
}

}  // namespace
}  // namespace nccl_tune::policy
