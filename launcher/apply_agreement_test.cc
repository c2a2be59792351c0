// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/env/plan.h"
#include "launcher/agreement.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

facts::IpAddress Address(const std::string& text) { return facts::ParseIpAddress(text).value_or({}); }
facts::IpPrefix Prefix(const std::string& text) { return facts::ParseIpPrefix(text).value_or({}); }

// Two RoCE cards, each with an IPv4 and an IPv6 GID, and a management interface with the node's address in Slurm.
facts::Node MakeNode() {
  facts::Node out;
  const auto add_netdev = [&](const std::string& name, const std::vector<std::string>& addresses) {
    facts::Netdev netdev;
    netdev.name = name;
    netdev.ifindex = static_cast<int>(out.netdevs.size()) + 2;
    netdev.kind = facts::NetdevKind::kPhysical;
    netdev.admin_up = netdev.running = true;
    netdev.mtu = 9000;
    for (const auto& address : addresses) netdev.addresses.push_back({.prefix = Prefix(address)});
    out.netdevs.push_back(std::move(netdev));
  };
  add_netdev("eno1", {"10.0.0.11/24"});
  for (const std::string i : {"0", "1"}) {
    add_netdev("rail" + i, {"172.20." + i + ".11/24", "fd00:0:0:" + i + "::11/64"});
    facts::Hca hca;
    hca.name = "hca" + i;
    hca.node_type = facts::NodeType::kChannelAdapter;
    facts::IbPort port;
    port.number = 1;
    port.state = facts::PortState::kActive;
    port.link_layer = facts::LinkLayer::kEthernet;
    port.netdev = "rail" + i;
    int index = 2;
    for (const auto& text : {"172.20." + i + ".11", "fd00:0:0:" + i + "::11"}) {
      port.gids.push_back(
          {.index = index++, .address = Address(text), .version = facts::RoceVersion::kV2, .netdev = "rail" + i});
    }
    hca.ports.push_back(std::move(port));
    out.hcas.push_back(std::move(hca));
  }
  out.address = Address("10.0.0.11");
  return out;
}

constexpr const char* kPlan =
    R"({"v":1,"node":"a","set":{"NCCL_IB_HCA":"=hca0:1,hca1:1","NCCL_IB_GID_INDEX":"2","NCCL_IB_TC":"106",)"
    R"("NCCL_IB_FIFO_TC":"106","NCCL_SOCKET_IFNAME":"=rail0","GLOO_SOCKET_IFNAME":"rail0",)"
    R"("NVSHMEM_HCA_LIST":"hca0:1,hca1:1","NVSHMEM_IB_GID_INDEX":"2",)"
    R"("UCX_NET_DEVICES":"hca0:1,hca1:1,rail0"},)"
    R"("ports":[{"hca":"hca0","port":1,"link":"Ethernet","gbps":400,"netdev":"rail0","gid":2},)"
    R"({"hca":"hca1","port":1,"link":"Ethernet","gbps":400,"netdev":"rail1","gid":2}],)"
    R"("if":"rail0","addr":"172.20.0.11","why":{"NCCL_IB_HCA":"x","NCCL_IB_TC":"y"}})";

Environment Planned() {
  Environment out = env::ParsePlan(kPlan).value_or({}).set;
  out["NCCL_TUNE_PLAN"] = kPlan;
  out["HOME"] = "/home/u";
  return out;
}

env::PlanSummary PlanOf(const Environment& environment) {
  const auto plan = env::ParsePlan(base::Lookup(environment, "NCCL_TUNE_PLAN").value_or(""));
  EXPECT_TRUE(plan.ok());
  return plan.value_or({});
}

// What the plan in the environment sets is what the environment has.
void ExpectTrue(const Environment& environment) {
  for (const auto& [name, value] : PlanOf(environment).set) EXPECT_EQ(base::Lookup(environment, name), value) << name;
}

TEST(ApplyAgreementTest, DropsARail) {
  for (const auto& agreement :
       {Agreement{.drop_networks = {"172.20.0.0/24"}}, Agreement{.drop_places = {0}, .layout_size = 2}}) {
    auto environment = Planned();
    EXPECT_THAT(ApplyAgreement(agreement, MakeNode(), &environment),
                ElementsAre("NCCL_IB_HCA==hca1:1", "NVSHMEM_HCA_LIST=hca1:1", "UCX_NET_DEVICES=hca1:1,rail0"));
    EXPECT_EQ(environment.at("NCCL_IB_HCA"), "=hca1:1");
    EXPECT_EQ(environment.at("NCCL_SOCKET_IFNAME"), "=rail0");
    ExpectTrue(environment);
    const auto plan = PlanOf(environment);
    ASSERT_EQ(plan.ports.size(), 1U);
    EXPECT_EQ(plan.ports[0].hca, "hca1");
    EXPECT_EQ(plan.ports[0].gbps, 400);
  }
}

TEST(ApplyAgreementTest, TakesAFamily) {
  auto environment = Planned();
  EXPECT_THAT(ApplyAgreement({.family = 6}, MakeNode(), &environment),
              ElementsAre("NCCL_IB_GID_INDEX=3", "NVSHMEM_IB_GID_INDEX=3"));
  ExpectTrue(environment);
  EXPECT_EQ(PlanOf(environment).ports[1].gid, 3);
  // No one index is right: by address.
  auto node = MakeNode();
  node.hcas[1].ports[0].gids[1].index = 5;
  auto drifted = Planned();
  ApplyAgreement({.family = 6}, node, &drifted);
  EXPECT_FALSE(drifted.contains("NCCL_IB_GID_INDEX"));
  EXPECT_EQ(base::Lookup(drifted, "NCCL_IB_ADDR_FAMILY"), "AF_INET6");
  EXPECT_EQ(base::Lookup(drifted, "NVSHMEM_IB_ADDR_FAMILY"), "AF_INET6");
  ExpectTrue(drifted);
}

TEST(ApplyAgreementTest, TakesATrafficClass) {
  auto environment = Planned();
  EXPECT_THAT(ApplyAgreement({.traffic_class = "96"}, MakeNode(), &environment),
              ElementsAre("NCCL_IB_FIFO_TC=96", "NCCL_IB_TC=96"));
  ExpectTrue(environment);
  EXPECT_THAT(ApplyAgreement({.traffic_class = ""}, MakeNode(), &environment),
              ElementsAre("NCCL_IB_FIFO_TC unset", "NCCL_IB_TC unset"));
  EXPECT_FALSE(environment.contains("NCCL_IB_TC"));
  ExpectTrue(environment);
}

TEST(ApplyAgreementTest, GoesBackToTheAddressInSlurm) {
  auto environment = Planned();
  EXPECT_THAT(ApplyAgreement({.fall_back = true}, MakeNode(), &environment),
              ElementsAre("GLOO_SOCKET_IFNAME=eno1", "NCCL_SOCKET_IFNAME==eno1", "UCX_NET_DEVICES=hca0:1,hca1:1,eno1"));
  ExpectTrue(environment);
  EXPECT_EQ(PlanOf(environment).interface, "eno1");
  EXPECT_EQ(PlanOf(environment).address, "10.0.0.11");
  for (const char* address : {"", "10.0.0.99"}) {
    auto node = MakeNode();
    node.address.reset();
    if (*address != '\0') node.address = Address(address);
    auto unknown = Planned();
    EXPECT_THAT(ApplyAgreement({.fall_back = true}, node, &unknown),
                ElementsAre("GLOO_SOCKET_IFNAME unset", "NCCL_SOCKET_IFNAME unset", "UCX_NET_DEVICES unset"));
    EXPECT_FALSE(unknown.contains("NCCL_SOCKET_IFNAME"));
    EXPECT_EQ(PlanOf(unknown).address, std::nullopt);
  }
}

TEST(ApplyAgreementTest, AllAtOnce) {
  auto environment = Planned();
  const Agreement all{.drop_networks = {"172.20.1.0/24"}, .family = 6, .traffic_class = "", .fall_back = true};
  ApplyAgreement(all, MakeNode(), &environment);
  ExpectTrue(environment);
  EXPECT_EQ(environment.at("NCCL_IB_HCA"), "=hca0:1");
  EXPECT_EQ(environment.at("NCCL_IB_GID_INDEX"), "3");
  EXPECT_EQ(environment.at("UCX_NET_DEVICES"), "hca0:1,eno1");
  auto again = environment;
  EXPECT_THAT(ApplyAgreement(all, MakeNode(), &again), IsEmpty()) << "done once is done";
  EXPECT_EQ(again, environment);
}

TEST(ApplyAgreementTest, LeavesWhatIsNotOurs) {
  struct Row {
    const char* why;
    Agreement agreement;
    Environment change;
    const char* plan;  // null: as it is
  };
  const std::string forced = std::string(kPlan).insert(1, R"("forced":["NCCL_IB_HCA","NCCL_SOCKET_IFNAME"],)");
  const std::string kept = std::string(kPlan).insert(1, R"("kept":{"NCCL_IB_TC":"96","NCCL_IB_FIFO_TC":"96"},)");
  const Agreement rail{.drop_networks = {"172.20.0.0/24"}};
  const std::vector<Row> rows = {
      {"the user's list", rail, {{"NCCL_IB_HCA", "mlx5"}}, nullptr},
      {"the user's list, family", {.family = 6}, {{"NCCL_IB_HCA", "mlx5"}}, nullptr},
      {"the user's list, class", {.traffic_class = "96"}, {{"NCCL_IB_HCA", "mlx5"}}, nullptr},
      {"asked for", rail, {}, forced.c_str()},
      {"asked for, interface", {.fall_back = true}, {}, forced.c_str()},
      {"another interface", {.fall_back = true}, {{"NCCL_SOCKET_IFNAME", "eno"}}, nullptr},
      {"the user's class", {.traffic_class = "104"}, {{"NCCL_IB_TC", "96"}, {"NCCL_IB_FIFO_TC", "96"}}, kept.c_str()},
      {"no such rail", {.drop_networks = {"172.20.9.0/24"}}, {}, nullptr},
      {"every rail", {.drop_networks = {"172.20.0.0/24", "172.20.1.0/24"}}, {}, nullptr},
      {"every place", {.drop_places = {0, 1}, .layout_size = 2}, {}, nullptr},
      {"another layout", {.drop_places = {0}, .layout_size = 3}, {}, nullptr},
      {"the family it has", {.family = 4}, {}, nullptr},
      {"the class it has", {.traffic_class = "106"}, {}, nullptr},
      {"no plan", rail, {}, ""},
      {"no plan that can be read", rail, {}, "{"},
      {"nothing", {}, {}, nullptr},
      {"stop", {.stop = true}, {}, nullptr},
  };
  for (const auto& row : rows) {
    auto environment = Planned();
    for (const auto& [name, value] : row.change) environment[name] = value;
    if (row.plan != nullptr) environment["NCCL_TUNE_PLAN"] = row.plan;
    const auto before = environment;
    EXPECT_THAT(ApplyAgreement(row.agreement, MakeNode(), &environment), IsEmpty()) << row.why;
    EXPECT_EQ(environment, before) << row.why;
  }
}

TEST(ApplyAgreementTest, ANodeWithoutTheFamilyOrWithoutFacts) {
  auto node = MakeNode();
  node.hcas[1].ports[0].gids.pop_back();
  auto environment = Planned();
  EXPECT_THAT(ApplyAgreement({.family = 6}, node, &environment), IsEmpty());
  const Agreement all{.drop_networks = {"172.20.1.0/24"}, .family = 6};
  EXPECT_THAT(ApplyAgreement(all, facts::Node{}, &environment), IsEmpty());
  EXPECT_EQ(environment, Planned());
}

}  // namespace
}  // namespace nccl_tune::launcher
