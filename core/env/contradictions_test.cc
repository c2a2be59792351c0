// SPDX-License-Identifier: Apache-2.0
#include "core/env/contradictions.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::env {
namespace {

using base::Environment;
using Change = std::function<void(facts::Node*)>;

constexpr nccl::NcclVersion kVersion{2, 28, 9};

// The server, with a second device that is down and a third whose name begins like the first's.
facts::Node MakeNode() {
  facts::Node node = policy::MakeServer();
  node.hcas.push_back(policy::MakeRoce("mlx5_0", "0000:03:00.0", 25, "ens5f0", ""));
  node.hcas.back().ports[0].state = facts::PortState::kDown;
  node.hcas.push_back(policy::MakeRoce("mlx5_20", "0000:05:00.0", 25, "ens6", "172.21.0.11"));
  node.netdevs.push_back(policy::MakeNetdev("ens6", "172.21.0.11"));
  node.netdevs.push_back(policy::MakeNetdev("ens7", ""));
  node.netdevs.push_back(policy::MakeNetdev("ens8", "10.8.0.1"));
  node.netdevs.back().running = false;
  node.netdevs.push_back(policy::MakeNetdev("apipa0", "169.254.3.4"));
  return node;
}

std::string Show(const std::vector<Contradiction>& all) {
  std::string out;
  for (const auto& c : all) {
    out += (out.empty() ? "" : " | ") + c.variable + ": " + c.what + (c.hint.empty() ? "" : " -> " + c.hint);
  }
  return out;
}

std::string Judge(const facts::Node& node, const Environment& theirs, const nccl::NcclVersion& version = kVersion) {
  return Show(FindContradictions(node, theirs, theirs, version));
}

TEST(ContradictionsTest, WhatIsRightIsNotMentioned) {
  const Environment rows[] = {
      {},
      {{"PATH", "/bin"}, {"NCCL_DEBUG", "INFO"}},
      {{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_GID_INDEX", "3"}, {"NCCL_SOCKET_IFNAME", "=ens5f1"}},
      {{"NCCL_IB_HCA", "mlx5"}},
      {{"NCCL_IB_HCA", "^mlx5_0"}},
      {{"NCCL_IB_HCA", "^=mlx5_0,mlx5_20"}},
      {{"NCCL_SOCKET_IFNAME", "ens"}},
      {{"NCCL_IB_DISABLE", "1"}, {"NCCL_IB_HCA", "=mlx5_2:1"}},
      {{"NCCL_IB_ADDR_RANGE", "172.0.0.0/8"}},
      {{"GLOO_SOCKET_IFNAME", "eno1,ens5f1"}, {"TP_SOCKET_IFNAME", "eno1"}},
      {{"NCCL_SOCKET_FAMILY", "AF_INET"}},
      {{"NCCL_NET", "ib"}},
      {{"NCCL_NET", "Socket"}},
      {{"NCCL_NET", "IBext_v8"}},
      {{"NCCL_NET", "AWS Libfabric"}},
      {{"UCX_NET_DEVICES", "mlx5_2:1,ens5f1"}},
      {{"UCX_NET_DEVICES", "all"}},
      {{"UCX_NET_DEVICES", "^mlx5_9:1"}},
      {{"UCX_NET_DEVICES", "mlx5_[0-9]:1"}},
      {{"OMPI_MCA_btl_tcp_if_include", "ens5f1,10.0.0.0/8"}},
      {{"OMPI_MCA_oob_tcp_if_include", "eno1"}},
  };
  for (const auto& row : rows) EXPECT_EQ(Judge(MakeNode(), row), "");
}

TEST(ContradictionsTest, WhatThisNodeContradicts) {
  const std::string unset = "Unset NCCL_IB_GID_INDEX: nccl-tune finds the right entry of each node.";
  const std::string up = "eno1, ens5f1, ens6, apipa0.";
  const std::string sockets = "NCCL_IB_HCA: it leaves NCCL no port, and NCCL goes on over sockets without a word";
  const struct {
    Environment theirs;
    std::string found;
  } rows[] = {
      {{{"NCCL_IB_HCA", "=mlx5_7:1"}},
       "NCCL_IB_HCA: there is no mlx5_7 on this node -> There is mlx5_2, mlx5_0, mlx5_20. | " + sockets},
      {{{"NCCL_IB_HCA", "=ens5f1"}},
       "NCCL_IB_HCA: there is no ens5f1 on this node -> That is an interface; its device is mlx5_2. | " + sockets},
      {{{"NCCL_IB_HCA", "=mlx5_2:2"}}, "NCCL_IB_HCA: mlx5_2 has no port 2 -> Ports count from 1. | " + sockets},
      {{{"NCCL_IB_HCA", "=mlx5_0:1"}}, "NCCL_IB_HCA: mlx5_0:1: its port is not active, so NCCL skips it | " + sockets},
      {{{"NCCL_IB_HCA", "=mlx5_2,mlx5_0"}}, "NCCL_IB_HCA: mlx5_0:1: its port is not active, so NCCL skips it"},
      {{{"NCCL_IB_HCA", "mlx5_2"}},
       "NCCL_IB_HCA: without = names match by their beginning, so it also takes mlx5_20:1 -> Put one = in front."},
      {{{"NCCL_IB_HCA", "^mlx5"}}, sockets},
      {{{"NCCL_IB_HCA", "=a\x1b,mlx5_2"}},
       "NCCL_IB_HCA: a line end or other control character in the value -> Empty means every device."},
      {{{"NCCL_IB_HCA", "^=mlx5_0,^=mlx5_20"}},
       "NCCL_IB_HCA: a symbol counts only at the start, here it is part of a name -> Write \"^=mlx5_0,mlx5_20\"."},
      {{{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_GID_INDEX", "0"}},
       "NCCL_IB_GID_INDEX: GID 0 of mlx5_2:1 is link-local and does not leave the link -> " + unset},
      {{{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_GID_INDEX", "2"}},
       "NCCL_IB_GID_INDEX: GID 2 of mlx5_2:1 is for RoCE v1, which is not routed -> " + unset},
      {{{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_GID_INDEX", "9"}},
       "NCCL_IB_GID_INDEX: GID 9 of mlx5_2:1 is empty -> " + unset},
      {{{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_ADDR_FAMILY", "AF_INET6"}},
       "NCCL_IB_ADDR_FAMILY: GID 0 of mlx5_2:1 is link-local and does not leave the link -> Unset "
       "NCCL_IB_ADDR_FAMILY: nccl-tune finds the right entry of each node."},
      {{{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_ADDR_RANGE", "10.9.0.0/16"}},
       "NCCL_IB_ADDR_RANGE: GID 0 of mlx5_2:1 is link-local and does not leave the link -> Unset "
       "NCCL_IB_ADDR_RANGE: nccl-tune finds the right entry of each node."},
      {{{"NCCL_IB_GID_INDEX", "three"}},
       "NCCL_IB_GID_INDEX: text, which reads silently as 0, expected -1 to 255 -> An index is used unchecked on every "
       "device; -1 lets NCCL "
       "choose from 2.21 on."},
      {{{"NCCL_IB_TIMEOUT", "022"}},
       "NCCL_IB_TIMEOUT: a leading 0 makes it octal, so it reads as 18, expected 14 to 31 -> Write 22."},
      {{{"NCCL_SOCKET_IFNAME", "^docker0"}},
       "NCCL_SOCKET_IFNAME: a list that excludes replaces the defaults and so admits lo -> Add lo, or name one "
       "interface."},
      {{{"NCCL_SOCKET_IFNAME", "lo"}},
       "NCCL_SOCKET_IFNAME: NCCL takes lo first, over which no other node is reached -> Name one interface with = in "
       "front."},
      {{{"NCCL_SOCKET_IFNAME", "=apipa0"}},
       "NCCL_SOCKET_IFNAME: apipa0 has 169.254.3.4 only, which does not leave the link"},
      {{{"GLOO_SOCKET_IFNAME", "=eno1"}},
       "GLOO_SOCKET_IFNAME: names are exact here, the symbol would be part of one, expected plain names -> Write "
       "\"eno1\"."},
      {{{"GLOO_SOCKET_IFNAME", "eth9"}},
       "GLOO_SOCKET_IFNAME: there is no interface eth9 on this node, and the process fails"},
      {{{"TP_SOCKET_IFNAME", "ens7"}}, "TP_SOCKET_IFNAME: ens7 has no address"},
      {{{"GLOO_SOCKET_IFNAME", "eno1,ens8"}}, "GLOO_SOCKET_IFNAME: ens8 is down"},
      {{{"NCCL_NET", "TCP"}}, "NCCL_NET: NCCL has no transport of that name, and its init fails -> Write Socket."},
      {{{"NCCL_NET", "RoCE"}}, "NCCL_NET: NCCL has no transport of that name, and its init fails -> Write IB."},
      {{{"NCCL_NET", "mlx5_2"}},
       "NCCL_NET: NCCL has no transport of that name, and its init fails -> That is a device, which NCCL_IB_HCA "
       "takes."},
      {{{"NCCL_NET", "ens5f1"}},
       "NCCL_NET: NCCL has no transport of that name, and its init fails -> That is an interface, which "
       "NCCL_SOCKET_IFNAME takes."},
      {{{"UCX_NET_DEVICES", "mlx5_2"}},
       "UCX_NET_DEVICES: mlx5_2 has no port, and UCX does not find it -> Write mlx5_2:1."},
      {{{"UCX_NET_DEVICES", "mlx5_2:2,eth9"}},
       "UCX_NET_DEVICES: there is no device or interface mlx5_2:2 on this node | UCX_NET_DEVICES: there is no device "
       "or interface eth9 on this node"},
      {{{"OMPI_MCA_btl_tcp_if_include", "eth9"}},
       "OMPI_MCA_btl_tcp_if_include: there is no interface eth9 on this node -> Up with an address: " + up},
      {{{"OMPI_MCA_btl_tcp_if_include", "192.168.0.0/16"}},
       "OMPI_MCA_btl_tcp_if_include: no interface of this node has an address in 192.168.0.0/16 -> Up with an "
       "address: " +
           up},
      {{{"OMPI_MCA_btl_tcp_if_include", "10.0.0/8"}},
       "OMPI_MCA_btl_tcp_if_include: 10.0.0/8 is no network -> Write one such as 10.1.0.0/16."},
      {{{"OMPI_MCA_oob_tcp_if_include", "ens7,ens8"}},
       "OMPI_MCA_oob_tcp_if_include: ens7 has no address | OMPI_MCA_oob_tcp_if_include: ens8 is down"},
  };
  for (const auto& row : rows) EXPECT_EQ(Judge(MakeNode(), row.theirs), row.found);
}

TEST(ContradictionsTest, NamesThatLookMisspelt) {
  const auto judge = [](const char* name) { return Judge(MakeNode(), {{name, "1"}}); };
  const std::string mean = ": not a variable that we know -> Did you mean ";
  EXPECT_EQ(judge("NCCL_IB_HCAS"), "NCCL_IB_HCAS" + mean + "NCCL_IB_HCA?");
  EXPECT_EQ(judge("NCCL_SOCKET_IFNAM"), "NCCL_SOCKET_IFNAM" + mean + "NCCL_SOCKET_IFNAME?");
  EXPECT_EQ(judge("NCCL_IB_GID_IDNEX"), "NCCL_IB_GID_IDNEX" + mean + "NCCL_IB_GID_INDEX?");
  for (const char* name : {"NCCL_", "NCCL_LL_BUFFSIZE", "NCCL_TUNE", "NCCL_TUNE_PLAN", "MY_NCCL_IB_HCA", "IB_HCA",
                           "NCCL_A_NAME_THAT_IS_NOT_LIKE_ANY_OTHER"}) {
    EXPECT_EQ(judge(name), "") << name;
  }
  EXPECT_EQ(Judge(MakeNode(), {{"NCCL_IB_HCAS", "x"}, {"NCCL_IB_HCA", "=mlx5_2:1"}}), "") << "the right one is set too";
}

TEST(ContradictionsTest, ManyAreANumber) {
  std::string devices = "=";
  for (int i = 0; i < 20; ++i) devices += "nosuch" + std::to_string(i) + ",";
  const auto found = FindContradictions(MakeNode(), {{"NCCL_IB_HCA", devices}}, {{"NCCL_IB_HCA", devices}}, kVersion);
  ASSERT_EQ(found.size(), 8u);
  EXPECT_EQ(found[0].what, "there is no nosuch0 on this node");
  EXPECT_TRUE(found[6].what.ends_with(" more of these")) << found[6].what;
  EXPECT_TRUE(found[7].what.starts_with("it leaves NCCL no port")) << found[7].what;
  Environment misspelt;
  for (int i = 0; i < 5000; ++i) misspelt["NCCL_IB_HCA" + std::to_string(i)] = "1";
  EXPECT_LE(FindContradictions(MakeNode(), misspelt, misspelt, kVersion).size(), 64u);
  const Environment long_name = {{"NCCL_IB_HCAS" + std::string(100000, 'S'), "1"}};
  EXPECT_EQ(Judge(MakeNode(), long_name), "");
}

TEST(ContradictionsTest, InterfacesThatCannotBeFound) {
  for (const char* value : {"=ens9", "=ens7", "=ens8", "=ens5"}) {
    EXPECT_TRUE(
        Judge(MakeNode(), {{"NCCL_SOCKET_IFNAME", value}})
            .starts_with("NCCL_SOCKET_IFNAME: no interface that is up with an address fits, and NCCL's init fails"))
        << value << ": " << Judge(MakeNode(), {{"NCCL_SOCKET_IFNAME", value}});
  }
  EXPECT_TRUE(Judge(MakeNode(), {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}).starts_with("NCCL_SOCKET_FAMILY: no interface"));
}

TEST(ContradictionsTest, VersionsThatDoNotReadIt) {
  EXPECT_EQ(Judge(MakeNode(), {{"NCCL_IB_ADDR_FAMILY", "AF_INET"}}, {2, 19, 3}),
            "NCCL_IB_ADDR_FAMILY: NCCL 2.19.3 does not read it yet");
}

TEST(ContradictionsTest, OnInfiniBandTheIndexDoesNothing) {
  facts::Node node = policy::MakeServer();
  node.hcas = {policy::MakeIb("mlx5_0", "0000:01:00.0", 400)};
  EXPECT_EQ(Judge(node, {{"NCCL_IB_GID_INDEX", "3"}}),
            "NCCL_IB_GID_INDEX: InfiniBand ports need no such choice, and newer NCCL ignores it there");
}

// The index is the user's, the ports are ours: judged on the ports that NCCL will take.
TEST(ContradictionsTest, LooksAtWhatTheTaskWillSee) {
  const Environment theirs = {{"NCCL_IB_GID_INDEX", "3"}};
  Environment all = theirs;
  facts::Node node = MakeNode();
  node.hcas[2].ports[0].gids.resize(2);
  EXPECT_EQ(
      Show(FindContradictions(node, theirs, all, kVersion)),
      "NCCL_IB_GID_INDEX: GID 3 of mlx5_20:1 is empty -> Unset NCCL_IB_GID_INDEX: nccl-tune finds the right entry "
      "of each node.");
  all["NCCL_IB_HCA"] = "=mlx5_2:1";
  EXPECT_EQ(Show(FindContradictions(node, theirs, all, kVersion)), "");
}

TEST(ContradictionsTest, TrafficClasses) {
  const auto dcb = [](facts::Node* node, const char* name) -> facts::Dcb& {
    for (auto& netdev : node->netdevs) {
      if (netdev.name == name) return netdev.dcb ? *netdev.dcb : netdev.dcb.emplace();
    }
    return node->netdevs.front().dcb.emplace();
  };
  facts::Node node = MakeNode();
  for (const char* name : {"ens5f1", "ens6"}) dcb(&node, name) = {.pfc = 8, .dscp = {{26, 3}, {48, 6}}, .trust = {}};
  const std::string elsewhere = "its DSCP, 48, does not lead to priority 3, the only lossless one of ens5f1";
  const struct {
    const char* what;
    Environment theirs;
    Change change;
    std::string shown;
  } rows[] = {
      {"the lossless class", {{"NCCL_IB_TC", "106"}}, {}, ""},
      {"the same without the bits of ECN", {{"NCCL_IB_TC", "104"}}, {}, ""},
      {"in hexadecimal", {{"NCCL_IB_TC", "0x6a"}}, {}, ""},
      {"the default", {{"NCCL_IB_TC", "-1"}}, {}, ""},
      {"a DSCP that no entry names", {{"NCCL_IB_TC", "96"}}, {}, ""},
      {"a lossy class", {{"NCCL_IB_TC", "192"}}, {}, "NCCL_IB_TC: " + elsewhere + " -> Write 106."},
      {"a lossy class for clear-to-send messages",
       {{"NCCL_IB_FIFO_TC", "194"}},
       {},
       "NCCL_IB_FIFO_TC: " + elsewhere + " -> Write 106."},
      {"ports that differ",
       {{"NCCL_IB_TC", "192"}},
       [&](facts::Node* n) {
         dcb(n, "ens6").dscp = {{34, 3}};
       },
       "NCCL_IB_TC: " + elsewhere},
      {"a port that is not used",
       {{"NCCL_IB_TC", "106"}, {"NCCL_IB_HCA", "=mlx5_2:1"}},
       [&](facts::Node* n) {
         dcb(n, "ens6").dscp = {{26, 6}};
       },
       ""},
      {"overridden",
       {{"NCCL_IB_TC", "106"}},
       [](facts::Node* n) { n->hcas[0].ports[0].host_traffic_class = "98"; },
       "NCCL_IB_TC: mlx5_2:1: the host sets class 98 there, which overrides it"},
      {"overridden by the same",
       {{"NCCL_IB_TC", "106"}},
       [](facts::Node* n) { n->hcas[0].ports[0].host_traffic_class = "106"; },
       ""},
      {"overridden by what is not understood",
       {{"NCCL_IB_TC", "106"}},
       [](facts::Node* n) { n->hcas[0].ports[0].host_traffic_class = ""; },
       ""},
      {"PFC is off",
       {{"NCCL_IB_TC", "192"}},
       [&](facts::Node* n) { dcb(n, "ens5f1").pfc = dcb(n, "ens6").pfc = 0; },
       ""},
      {"no verbs", {{"NCCL_IB_TC", "192"}, {"NCCL_IB_DISABLE", "1"}}, {}, ""},
  };
  for (const auto& row : rows) {
    facts::Node changed = node;
    if (row.change) row.change(&changed);
    EXPECT_EQ(Judge(changed, row.theirs), row.shown) << row.what;
  }
}

TEST(ContradictionsTest, ANodeWithNothing) {
  EXPECT_EQ(Judge(facts::Node{}, {{"NCCL_IB_GID_INDEX", "3"}, {"NCCL_IB_TC", "106"}}), "");
  EXPECT_FALSE(Judge(facts::Node{}, {{"NCCL_SOCKET_IFNAME", "=eth0"}}).empty());
  EXPECT_EQ(Judge(facts::Node{}, {{"NCCL_IB_HCA", "=mlx5_0"}}), "NCCL_IB_HCA: there is no mlx5_0 on this node");
}

}  // namespace
}  // namespace nccl_tune::env
