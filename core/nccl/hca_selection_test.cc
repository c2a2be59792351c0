// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/hca_selection.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kV228{2, 28, 9};

facts::IbPort MakePort(int number, facts::LinkLayer link_layer) {
  facts::IbPort port;
  port.number = number;
  port.state = facts::PortState::kActive;
  port.link_layer = link_layer;
  return port;
}

facts::Hca MakeHca(std::string name, facts::LinkLayer link_layer = facts::LinkLayer::kEthernet) {
  facts::Hca hca;
  hca.name = std::move(name);
  hca.openable = facts::Openable::kYes;
  hca.ports = {MakePort(1, link_layer)};
  return hca;
}

facts::Node MakeNode() {
  facts::Node node;
  facts::Netdev eth0;
  eth0.name = "eth0";
  eth0.admin_up = eth0.running = true;
  eth0.addresses = {{.prefix = *facts::MakePrefix(*facts::ParseIpAddress("10.0.0.5"), 24)}};
  node.netdevs = {eth0};
  node.hcas = {MakeHca("mlx5_0"), MakeHca("mlx5_2"), MakeHca("mlx5_20", facts::LinkLayer::kInfiniBand),
               MakeHca("mlx5_bond_0")};
  return node;
}

std::string Taken(const HcaSelection& selection) {
  std::string out;
  for (const JudgedPort& port : selection.Taken()) {
    out += (out.empty() ? "" : " ") + port.hca + ":" + std::to_string(port.port);
  }
  return out;
}

TEST(HcaSelectionTest, FollowsTheList) {
  const struct {
    const char* value;
    const char* taken;
  } rows[] = {
      {"", "mlx5_0:1 mlx5_2:1 mlx5_20:1 mlx5_bond_0:1"},
      {"mlx5_2", "mlx5_2:1 mlx5_20:1"},
      {"=mlx5_2", "mlx5_2:1"},
      {"^=mlx5_0,^=mlx5_2", "mlx5_2:1 mlx5_20:1 mlx5_bond_0:1"},
      {"=mlx5_bond_0:1,mlx5_0:1", "mlx5_0:1 mlx5_bond_0:1"},
      {"=mlx5_0:2", ""},
      {"^", ""},
  };
  for (const auto& row : rows) {
    const HcaSelection got = SelectHcas(MakeNode(), kV228, {{"NCCL_IB_HCA", row.value}});
    EXPECT_EQ(Taken(got), row.taken) << row.value;
    EXPECT_EQ(got.ports.size(), 4u);
    EXPECT_TRUE(got.transport_off.empty());
  }
  EXPECT_EQ(SelectHcas(MakeNode(), kV228, {}).Taken().size(), 4u);
}

TEST(HcaSelectionTest, SaysWhatIsWrongWithAPort) {
  const auto verdict = [](const facts::Hca& hca, const char* list) {
    facts::Node node = MakeNode();
    node.hcas = {hca};
    return SelectHcas(node, kV228, {{"NCCL_IB_HCA", list}}).ports.at(0).verdict;
  };
  const facts::Hca good = MakeHca("mlx5_0");
  EXPECT_EQ(verdict(good, ""), PortVerdict::kTaken);
  EXPECT_EQ(verdict(good, "=mlx5_2"), PortVerdict::kNotInList);
  for (const auto openable : {facts::Openable::kNo, facts::Openable::kMissing}) {
    facts::Hca hca = good;
    hca.openable = openable;
    EXPECT_EQ(verdict(hca, ""), PortVerdict::kCannotOpen);
  }
  facts::Hca unknown = good;
  unknown.openable = facts::Openable::kUnknown;
  EXPECT_EQ(verdict(unknown, ""), PortVerdict::kTaken);
  using State = facts::PortState;
  for (const State state : {State::kDown, State::kInit, State::kArmed, State::kActiveDefer, State::kOther}) {
    facts::Hca hca = good;
    hca.ports[0].state = state;
    EXPECT_EQ(verdict(hca, ""), PortVerdict::kNotActive);
  }
  facts::Hca unread = good;
  unread.ports[0].state = std::nullopt;
  EXPECT_EQ(verdict(unread, ""), PortVerdict::kNotActive);
  EXPECT_EQ(verdict(MakeHca("efa_0", facts::LinkLayer::kOther), ""), PortVerdict::kOtherLinkLayer);
  facts::Hca no_link = good;
  no_link.ports[0].link_layer = std::nullopt;
  EXPECT_EQ(verdict(no_link, ""), PortVerdict::kOtherLinkLayer);
}

TEST(HcaSelectionTest, TransportOff) {
  const std::string no_interface = "it needs an IP interface for its exchange: ";
  const struct {
    Environment environment;
    std::string why;
  } rows[] = {
      {{{"NCCL_IB_DISABLE", "0"}}, ""},
      {{{"NCCL_IB_DISABLE", ""}}, ""},
      {{{"NCCL_IB_DISABLE", "yes"}}, ""},
      {{{"NCCL_IB_DISABLE", "false"}}, ""},
      {{{"NCCL_IB_DISABLE", "1"}}, "NCCL_IB_DISABLE turns it off"},
      {{{"NCCL_IB_DISABLE", "2"}}, "NCCL_IB_DISABLE turns it off"},
      {{{"NCCL_NET", "IB"}}, ""},
      {{{"NCCL_NET", "ib"}}, ""},
      {{{"NCCL_NET", "Socket"}}, "NCCL_NET names another transport"},
      {{{"NCCL_NET", "IBext"}}, "NCCL_NET names another transport"},
      {{{"NCCL_NET", "IB "}}, "NCCL_NET names another transport"},
      {{{"NCCL_SOCKET_IFNAME", "=eth9"}},
       no_interface + "nothing matches NCCL_SOCKET_IFNAME, and there is no fallback"},
      {{{"NCCL_SOCKET_FAMILY", "AF_INET6"}}, no_interface + "no interface has a usable address"},
  };
  for (const auto& row : rows) {
    const HcaSelection got = SelectHcas(MakeNode(), kV228, row.environment);
    EXPECT_EQ(got.transport_off, row.why);
    EXPECT_EQ(got.Taken().empty(), !row.why.empty());
    EXPECT_EQ(got.ports.size(), 4u);
  }
}

TEST(HcaSelectionTest, AtMostThirtyTwo) {
  facts::Node node = MakeNode();
  node.hcas.clear();
  for (int i = 0; i < 34; ++i) node.hcas.push_back(MakeHca("mlx5_" + std::to_string(i)));
  node.hcas[0].ports[0].state = facts::PortState::kDown;
  const HcaSelection got = SelectHcas(node, kV228, {});
  EXPECT_EQ(got.Taken().size(), 32u);
  EXPECT_EQ(got.ports[32].verdict, PortVerdict::kTaken);
  EXPECT_EQ(got.ports[33].verdict, PortVerdict::kTooMany);
}

TEST(HcaSelectionTest, SeveralPortsAndExplanations) {
  facts::Node node = MakeNode();
  node.hcas.resize(1);
  node.hcas[0].ports.push_back(MakePort(2, facts::LinkLayer::kInfiniBand));
  EXPECT_EQ(Taken(SelectHcas(node, kV228, {{"NCCL_IB_HCA", "=mlx5_0:2"}})), "mlx5_0:2");
  EXPECT_EQ(Taken(SelectHcas(node, kV228, {})), "mlx5_0:1 mlx5_0:2");
  EXPECT_EQ(Explain(PortVerdict::kNotActive), "its port is not active");
  for (int i = 0; i <= static_cast<int>(PortVerdict::kTooMany); ++i) {
    EXPECT_FALSE(Explain(static_cast<PortVerdict>(i)).empty());
  }
}

}  // namespace
}  // namespace nccl_tune::nccl
