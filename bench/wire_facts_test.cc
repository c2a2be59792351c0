// SPDX-License-Identifier: Apache-2.0
#include "bench/wire_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/facts/number_text.h"
#include "hw/capture_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using enum BackendKind;

constexpr const char* kPlan =
    R"({"v":1,"node":"n","set":{},"ports":[{"hca":"mlx5_7","port":1,"link":"Ethernet","gbps":25},)"
    R"({"hca":"mlx5_3","port":1,"link":"Ethernet","gbps":100}]})";

std::string Show(const Wire& wire) {
  std::string out = wire.facts.transport == Transport::kTcp ? "tcp" : "rdma";
  for (const auto& link : wire.links) out += " " + link.ToString();
  out += ":";
  for (const auto& rail : wire.facts.rails) out += " " + facts::NumberText(rail.value);
  if (wire.facts.mtu) out += " mtu " + std::to_string(*wire.facts.mtu);
  return out + (wire.facts.missing.empty() ? "" : " (" + wire.facts.missing + ")");
}

facts::Netdev Interface(std::string name, facts::NetdevKind kind, std::optional<double> speed, int index) {
  facts::Netdev out;
  out.name = std::move(name);
  out.ifindex = index;
  out.kind = kind;
  out.admin_up = out.running = true;
  out.mtu = 1500;
  if (speed) out.speed = facts::GbitPerSecond{*speed};
  const auto address = facts::ParseIpAddress("10.0.0." + std::to_string(index));
  out.addresses.push_back({.prefix = {.address = *address, .length = 24}, .link_scope = false});
  return out;
}

facts::Node Interfaces() {
  facts::Node out;
  out.netdevs.push_back(Interface("lo", facts::NetdevKind::kLoopback, std::nullopt, 1));
  out.netdevs.push_back(Interface("eno1", facts::NetdevKind::kPhysical, 10, 2));
  out.netdevs.push_back(Interface("veth0", facts::NetdevKind::kVeth, 10, 3));
  out.netdevs.push_back(Interface("virt0", facts::NetdevKind::kPhysical, std::nullopt, 4));
  auto vlan = Interface("eno1.7", facts::NetdevKind::kVlan, 10, 5);
  vlan.parent = "eno1";
  out.netdevs.push_back(vlan);
  auto loop = Interface("loop.1", facts::NetdevKind::kVlan, 10, 6);
  loop.parent = "loop.1";
  out.netdevs.push_back(loop);
  return out;
}

TEST(FindWireTest, FromThePlan) {
  const struct {
    Environment environment;
    BackendKind backend;
    const char* shown;
  } rows[] = {
      {{}, kNccl, "rdma mlx5_7:1 mlx5_3:1: 25 100"},
      {{{"NCCL_IB_HCA", "=mlx5_3:1"}}, kNccl, "rdma mlx5_3:1: 100"},
      {{{"NCCL_IB_HCA", "^=mlx5_3:1"}}, kNccl, "rdma mlx5_7:1: 25"},
      {{{"NCCL_IB_HCA", "=mlx5_3:1"}}, kMpi, "rdma mlx5_7:1 mlx5_3:1: 25 100"},  // not its variable
      {{{"UCX_NET_DEVICES", "mlx5_7:1"}}, kMpi, "rdma mlx5_7:1: 25"},
      {{{"UCX_NET_DEVICES", "all"}}, kMpi, "rdma mlx5_7:1 mlx5_3:1: 25 100"},
      {{{"UCX_TLS", "rc,sm,self"}, {"OMPI_MCA_pml", "ucx"}}, kMpi, "rdma mlx5_7:1 mlx5_3:1: 25 100"},
      {{{"UCX_TLS", "^cuda"}}, kMpi, "rdma mlx5_7:1 mlx5_3:1: 25 100"},
      {{{"NCCL_IB_DISABLE", "0"}}, kNccl, "rdma mlx5_7:1 mlx5_3:1: 25 100"},
  };
  for (auto row : rows) {
    row.environment["NCCL_TUNE_PLAN"] = kPlan;
    const Wire got = FindWire({}, row.environment, row.backend);
    EXPECT_EQ(Show(got), row.shown);
    EXPECT_EQ(got.facts.source, "NCCL_TUNE_PLAN");
  }
}

// A machine with RoCE ports whose interfaces have no rate of their own.
facts::Node WithPorts() {
  facts::Node node = Interfaces();
  facts::Hca hca;
  hca.name = "mlx5_7";
  facts::IbPort port;
  port.number = 1;
  port.netdev = "veth0";
  port.rate = facts::GbitPerSecond{25};
  hca.ports.push_back(port);
  node.hcas.push_back(hca);
  return node;
}

TEST(FindWireTest, HostMemoryOverTcpHasTheRateOfItsOwnInterface) {
  const struct {
    const char* interfaces;
    const char* shown;
    const char* beside;
  } rows[] = {
      {"veth0", "tcp veth0: 25 mtu 1500", ""},
      {"eno1", "tcp eno1: 10 mtu 1500", "host memory goes over eno1 and not over the rail veth0: "},
      {"eno1,veth0", "tcp eno1 veth0: 10 25 mtu 1500", ""},
      {"eno1,virt0", "tcp eno1 virt0: 10 mtu 1500 (the line rate of virt0 is not known)",
       "host memory goes over eno1, virt0 and not over the rail veth0: "},
      {"10.0.0.0/24", "tcp: (it is not known which interfaces TCP uses)", ""},
  };
  for (const auto& row : rows) {
    const Wire got = FindWire(
        WithPorts(),
        {{"NCCL_TUNE_PLAN", kPlan}, {"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", row.interfaces}}, kMpi);
    EXPECT_EQ(Show(got), row.shown);
    EXPECT_EQ(got.beside.substr(0, got.beside.find(':') == std::string::npos ? 0 : got.beside.find(':') + 2),
              row.beside);
  }
  EXPECT_EQ(FindWire(Interfaces(), {{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "eno1"}}, kMpi).beside, "")
      << "a machine without rails";
}

TEST(FindWireTest, TcpWhereRdmaIsOffOrAbsent) {
  const struct {
    Environment environment;
    BackendKind backend;
    const char* shown;
  } rows[] = {
      {{{"NCCL_IB_DISABLE", "1"}, {"NCCL_SOCKET_IFNAME", "=eno1"}}, kNccl, "tcp eno1: 10 mtu 1500"},
      {{{"NCCL_NET", "Socket"}, {"NCCL_SOCKET_IFNAME", "=eno1"}}, kNccl, "tcp eno1: 10 mtu 1500"},
      {{{"NCCL_NET", "Socket"}, {"NCCL_SOCKET_IFNAME", "=eno1.7"}}, kNccl, "tcp eno1.7: 10 mtu 1500"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "eno1"}}, kMpi, "tcp eno1: 10 mtu 1500"},
      {{{"OMPI_MCA_pml", "ucx"}, {"UCX_TLS", "tcp,sm"}, {"UCX_NET_DEVICES", "eno1"}}, kMpi, "tcp eno1: 10 mtu 1500"},
      // What is not known is said.
      {{{"OMPI_MCA_pml", "ob1"}}, kMpi, "tcp: (it is not known which interfaces TCP uses)"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "10.0.0.0/24,nope,,"}},
       kMpi,
       "tcp: (it is not known which interfaces TCP uses)"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "lo"}},
       kMpi,
       "tcp: (it is not known which interfaces TCP uses)"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "veth0"}},
       kMpi,
       "tcp veth0: mtu 1500 (the line rate of veth0 is not known)"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "virt0,eno1"}},
       kMpi,
       "tcp virt0 eno1: 10 mtu 1500 (the line rate of virt0 is not known)"},
      {{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl_tcp_if_include", "loop.1"}},
       kMpi,
       "tcp loop.1: mtu 1500 (the line rate of loop.1 is not known)"},
      {{{"NCCL_NET", "Socket"}, {"NCCL_SOCKET_IFNAME", "=nope"}},
       kNccl,
       "tcp: (it is not known which interfaces TCP uses)"},
  };
  for (auto row : rows) {
    row.environment["NCCL_TUNE_PLAN"] = kPlan;
    EXPECT_EQ(Show(FindWire(Interfaces(), row.environment, row.backend)), row.shown);
  }
  EXPECT_EQ(Show(FindWire(Interfaces(), {{"NCCL_SOCKET_IFNAME", "=eno1"}}, kNccl)), "tcp eno1: 10 mtu 1500");
}

TEST(FindWireTest, OddPlansAreNoPlans) {
  const char* const plans[] = {"",
                               "{",
                               "[]",
                               R"({"v":1})",
                               R"({"v":2,"ports":[{"hca":"mlx5_7","port":1,"gbps":25}]})",
                               R"({"v":1,"node":"n","set":{},"ports":[]})",
                               R"({"v":1,"node":"n","set":{},"ports":7})"};
  for (const char* plan : plans) {
    EXPECT_EQ(Show(FindWire({}, {{"NCCL_TUNE_PLAN", plan}}, kMpi)), "tcp: (it is not known which interfaces TCP uses)")
        << plan;
  }
  const Environment no_rate = {
      {"NCCL_TUNE_PLAN", R"({"v":1,"node":"n","set":{},"ports":[{"hca":"mlx5_7","port":1,"link":"Ethernet"}]})"}};
  EXPECT_EQ(Show(FindWire({}, no_rate, kNccl)), "rdma mlx5_7:1: (the line rate of mlx5_7:1 is not known)");
}

TEST(ReadWireTest, FromTheNode) {
  const hw::CaptureTree tree(hw::ParseMachine(hw::kMachineText));
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadIpFiles(tree, &notes);
  EXPECT_EQ(Show(ReadWire(tree, ip, {{"NCCL_IB_HCA", "=mlx5_2:1"}}, kNccl)), "rdma mlx5_2:1: 25");
  EXPECT_EQ(Show(ReadWire(tree, ip, {{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_TUNE_PLAN", kPlan}}, kNccl)),
            "rdma mlx5_2:1: 25");  // the user's choice is none of the plan's ports
  EXPECT_EQ(Show(ReadWire(tree, ip, {{"UCX_NET_DEVICES", "mlx5_0:1"}}, kMpi)), "rdma mlx5_0:1: 200");
  EXPECT_EQ(Show(ReadWire(tree, ip, {{"UCX_NET_DEVICES", "mlx5_9:1,mlx5_2:x,:,mlx5_2:-1"}}, kMpi)),
            "tcp: (it is not known which interfaces TCP uses)");
  EXPECT_EQ(ReadWire(tree, ip, {}, kNccl).facts.source, "this node's ports");
  EXPECT_EQ(ReadWire(tree, ip, {}, kNccl).gpus, 1U);
  EXPECT_EQ(Show(ReadWire(tree, ip, {}, kNccl)), "rdma mlx5_2:1: 25");
}

TEST(FindWireTest, SlowPortsBesideRailsAreIdleUnlessListed) {
  facts::Node node = Interfaces();
  for (int i = 0; i < 3; ++i) {
    facts::Hca hca;
    hca.name = "mlx5_" + std::to_string(i == 0 ? 0 : 6 + i);
    hca.node_type = facts::NodeType::kChannelAdapter;
    hca.pci = facts::PciAddress{.bus = static_cast<std::uint8_t>(16 * (i + 1))};
    hca.driver = "mlx5_core";
    hca.openable = facts::Openable::kYes;
    facts::IbPort port;
    port.number = 1;
    port.state = facts::PortState::kActive;
    port.link_layer = facts::LinkLayer::kInfiniBand;
    port.rate = facts::GbitPerSecond{i == 2 ? 100.0 : 400.0};
    port.lid = static_cast<std::uint32_t>(7 + i);
    port.sm_lid = 1;
    hca.ports.push_back(port);
    node.hcas.push_back(hca);
  }
  EXPECT_EQ(Show(FindWire(node, {}, kNccl)), "rdma mlx5_0:1 mlx5_7:1: 400 400");
  EXPECT_EQ(Show(FindWire(node, {}, kMpi)), "rdma mlx5_0:1 mlx5_7:1: 400 400");
  EXPECT_EQ(Show(FindWire(node, {{"NCCL_IB_HCA", "=mlx5_7,mlx5_8"}}, kNccl)), "rdma mlx5_7:1 mlx5_8:1: 400 100");
  EXPECT_EQ(Show(FindWire(node, {{"NCCL_IB_HCA", "=mlx5_8"}}, kNccl)), "rdma mlx5_8:1: 100");
}

TEST(ReadWireTest, ANodeThatCannotBeRead) {
  const hw::CaptureTree nothing(hw::ParseMachine("nccl-tune-capture 1\nproc/x = 1\n"));
  EXPECT_EQ(Show(ReadWire(nothing, {}, {}, kNccl)),
            "tcp: (this node cannot be read: no machine here: neither network interfaces nor RDMA devices)");
  EXPECT_EQ(Show(ReadWire(nothing, {}, {{"NCCL_TUNE_PLAN", kPlan}}, kNccl)), "rdma mlx5_7:1 mlx5_3:1: 25 100");
}

}  // namespace
}  // namespace nccl_tune::bench
