// SPDX-License-Identifier: Apache-2.0
#include "core/policy/fit_rails.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/facts/pci_address.h"
#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

facts::PciAddress Pci(const std::string& text) { return facts::ParsePciAddress(text).value(); }

// `rails` InfiniBand cards on buses of their own and as many GPUs as asked for, half of both on each NUMA node.
facts::Node MakeMachine(int rails, int gpus) {
  facts::Node node;
  for (int i = 0; i < rails; ++i) {
    auto hca = MakeIb("ib" + std::to_string(i), "0000:" + std::to_string(10 + i) + ":00.0", 200);
    hca.numa_node = i < rails / 2 ? 0 : 1;
    hca.ports[0].netdev = "ibif" + std::to_string(i);
    node.hcas.push_back(hca);
  }
  for (int i = 0; i < gpus; ++i) {
    facts::Gpu gpu;
    gpu.pci = Pci("0000:" + std::to_string(40 + i) + ":00.0");
    gpu.numa_node = i < gpus / 2 ? 0 : 1;
    node.gpus.push_back(gpu);
  }
  return node;
}

void Add(facts::Node* node, const char* name, const char* pci, int numa) {
  auto hca = MakeIb(name, pci, 200);
  hca.numa_node = numa;
  hca.ports[0].netdev = std::string(name) + "if";
  node->hcas.push_back(hca);
}

std::vector<PortRef> ActivePorts(const facts::Node& node) {
  std::vector<PortRef> out;
  for (const auto& hca : node.hcas) {
    if (hca.ports[0].state == facts::PortState::kActive) out.push_back({.hca = &hca, .port = hca.ports.data()});
  }
  return out;
}

std::string NoFrontEnd(const facts::Node&, const PortRef&) { return ""; }
std::string FrontEndIsEth0(const facts::Node&, const PortRef& ref) {
  return ref.port->netdev == "eth0" ? "front end" : "";
}

// "NAME: reason" of what goes.
std::string Gone(const facts::Node& node, WhyFrontEnd front_end = &NoFrontEnd) {
  const auto ports = ActivePorts(node);
  const auto why = WhyNoRail(node, ports, front_end);
  std::string out;
  for (std::size_t i = 0; i < why.size(); ++i) {
    if (!why[i].empty()) out += (out.empty() ? "" : " | ") + ports[i].hca->name + ": " + why[i];
  }
  return out;
}

TEST(FitsTest, OneWayOrTheOther) {
  EXPECT_TRUE(Fits(8, 8) && Fits(16, 8) && Fits(4, 8) && Fits(1, 8) && Fits(3, 1));
  EXPECT_FALSE(Fits(9, 8) || Fits(10, 8) || Fits(12, 8) || Fits(4, 6) || Fits(0, 8) || Fits(8, 0));
}

TEST(WhyNoRailTest, ThePlaceTells) {
  facts::Node storage = MakeMachine(8, 8);
  Add(&storage, "far0", "0000:81:00.0", 5);
  Add(&storage, "far1", "0000:82:00.0", 5);
  EXPECT_EQ(Gone(storage),
            "far0: no GPU on its NUMA node, and the others fit the GPUs | far1: no GPU on its NUMA node, and "
            "the others fit the GPUs");
  facts::Node dual = MakeMachine(8, 8);
  Add(&dual, "st0", "0000:81:00.0", 1);
  Add(&dual, "st1", "0000:81:00.1", 1);
  EXPECT_EQ(Gone(dual),
            "st0: one of several functions of its card, and the others fit the GPUs | st1: one of several "
            "functions of its card, and the others fit the GPUs");
  facts::Node bridge = MakeMachine(8, 8);
  Add(&bridge, "nv0", "0000:81:00.0", 1);
  bridge.hcas[8].ports[0].netdev = std::nullopt;
  bridge.hcas[8].ports[0].lid = 77;
  bridge.hcas[8].ports[0].sm_lid = 77;
  EXPECT_EQ(Gone(bridge), "nv0: its subnet manager is a port of this node: no fabric, and the others fit the GPUs");
  facts::Node front = MakeMachine(8, 8);
  Add(&front, "fe1", "0000:81:00.1", 1);
  front.hcas.push_back(MakeRoce("fe0", "0000:81:00.0", 50, "eth0", "10.0.0.1"));
  front.hcas.back().ports[0].state = facts::PortState::kDown;
  EXPECT_EQ(Gone(front, &FrontEndIsEth0), "fe1: on the front end's card, and the others fit the GPUs");
}

TEST(WhyNoRailTest, ADeadRailKeepsItsPlace) {
  facts::Node node = MakeMachine(8, 8);
  Add(&node, "far0", "0000:81:00.0", 5);
  Add(&node, "far1", "0000:82:00.0", 5);
  node.hcas[3].ports[0].state = facts::PortState::kDown;
  EXPECT_EQ(Gone(node),
            "far0: no GPU on its NUMA node, and the others fit the GPUs | far1: no GPU on its NUMA node, and "
            "the others fit the GPUs");
}

TEST(WhyNoRailTest, NothingGoesWhereNothingTells) {
  EXPECT_EQ(Gone(MakeMachine(8, 8)), "");
  EXPECT_EQ(Gone(MakeMachine(4, 6)), "") << "no reason fits";
  EXPECT_EQ(Gone(MakeMachine(9, 8)), "");
  EXPECT_EQ(Gone(MakeMachine(3, 0)), "") << "no GPU seen";
  EXPECT_EQ(Gone(MakeMachine(3, 1)), "") << "one GPU may use them all";
  EXPECT_EQ(Gone(MakeMachine(0, 8)), "");
  facts::Node unknown = MakeMachine(8, 8);
  Add(&unknown, "far0", "0000:81:00.0", 5);
  for (auto& gpu : unknown.gpus) gpu.numa_node = std::nullopt;
  EXPECT_EQ(Gone(unknown), "") << "the GPUs' places are not known";
  facts::Node own = MakeMachine(2, 8);
  own.hcas[0].ports[0].sm_lid = own.hcas[0].ports[0].lid;
  EXPECT_EQ(Gone(own), "") << "two nodes back to back, the manager on one of them";
}

TEST(IsRailAllTheSameTest, CountsAndLegs) {
  facts::Node node = MakeMachine(8, 8);
  EXPECT_TRUE(IsRailAllTheSame(node, ActivePorts(node), ActivePorts(node)[0])) << "7 rails for 8 GPUs";
  facts::Node more = MakeMachine(9, 8);
  EXPECT_FALSE(IsRailAllTheSame(more, ActivePorts(more), ActivePorts(more)[0])) << "8 remain";
  facts::Node two = MakeMachine(2, 1);
  EXPECT_FALSE(IsRailAllTheSame(two, ActivePorts(two), ActivePorts(two)[0]));
  two.hcas[1].pci = two.hcas[0].pci;
  two.hcas[1].pci->domain = 2;
  EXPECT_TRUE(IsRailAllTheSame(two, ActivePorts(two), ActivePorts(two)[0])) << "the other leg of the cable";
  facts::Node dead = MakeMachine(9, 8);
  dead.hcas[8].ports[0].state = facts::PortState::kDown;
  EXPECT_FALSE(IsRailAllTheSame(dead, ActivePorts(dead), ActivePorts(dead)[0]))
      << "a dead rail is missing, not this one";
}

}  // namespace
}  // namespace nccl_tune::policy
