// SPDX-License-Identifier: Apache-2.0
//
// Whom detection asks for DCB, and what it reads beside: through ReadNode, as everyone does.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "hw/test_machine.h"
#include "hw/tree.h"

namespace nccl_tune::hw {
namespace {

constexpr char kTrust[] = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1/qos/trust";
constexpr char kClass[] = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2/tc/1/traffic_class";

struct Reading {
  facts::Node node;
  std::vector<std::string> asked;
  int reads = 0;  // of the two files
};

// Every interface answers with these priorities.
Reading ReadWith(const Capture& machine, int pfc) {
  Reading out;
  std::vector<facts::Note> notes;
  const CaptureTree tree(machine);
  const CountingTree counting(tree);
  auto ip = ReadIpFiles(tree, &notes);
  ip.dcb = [&](const std::string& interface, std::vector<facts::Note>*) {
    out.asked.push_back(interface);
    facts::Dcb dcb;
    dcb.pfc = static_cast<std::uint8_t>(pfc);
    return std::optional(dcb);
  };
  out.node = ReadNode(counting, ip, std::nullopt).value_or(facts::Node{});
  for (const auto& [path, reads] : counting.reads()) {
    if (path.ends_with("/qos/trust") || path.ends_with("/traffic_class")) out.reads += reads;
  }
  return out;
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  const auto at = text->find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text->replace(at, from.size(), to);
}

using Names = std::vector<std::string>;

TEST(ReadDcbTest, AsksForInterfacesOfActiveRocePortsOnly) {
  const auto small = ReadWith(ParseMachine(kMachineText), 8);
  EXPECT_EQ(small.asked, Names{"ens5f1"});
  EXPECT_EQ(small.node.FindNetdev("ens5f1")->dcb->pfc, 8);
  EXPECT_FALSE(small.node.FindNetdev("eno1")->dcb.has_value());
  const std::pair<const char*, const char*> none[] = {
      {"ports/1/state = 4: ACTIVE", "ports/1/state = 1: DOWN"},
      {"ports/1/link_layer = Ethernet", "ports/1/link_layer = InfiniBand"},
      {"node_type = 1: CA", "node_type = 4: RNIC"},
      {"ndevs/0 = ens5f1", "ndevs/0 = nowhere"},
  };
  for (const auto& [from, to] : none) {
    std::string text(kMachineText);
    Replace(&text, from, to);
    EXPECT_EQ(ReadWith(ParseMachine(text), 8).asked, Names{}) << to;
  }
}

TEST(ReadDcbTest, OfABondTheMembersOnce) {
  std::string text(kMachineText);
  Replace(&text, "ndevs/0 = ens5f1", "ndevs/0 = bond0");
  EXPECT_EQ(ReadWith(ParseMachine(text), 8).asked, Names{"eno1"});
  Replace(&text, "ports/2/state = 1: DOWN", "ports/2/state = 4: ACTIVE");
  Replace(&text, "ndevs/0 = ens11f2", "ndevs/0 = bond0");
  EXPECT_EQ(ReadWith(ParseMachine(text), 8).asked, Names{"eno1"});
}

TEST(ReadDcbTest, ReadsFilesOnlyWhereAPriorityIsLossless) {
  Capture machine = ParseMachine(kMachineText);
  machine.entries[kTrust] = CaptureFile{"dscp\n"};
  machine.entries[kClass] = CaptureFile{"Global tclass=106\n"};
  EXPECT_EQ(ReadWith(machine, 0).reads, 0);
  const auto reading = ReadWith(machine, 8);
  EXPECT_EQ(reading.reads, 2);
  EXPECT_EQ(reading.node.FindNetdev("ens5f1")->dcb->trust, "dscp");
}

TEST(ReadDcbTest, TheTwoFiles) {
  const struct {
    const char* what;
    std::optional<CaptureEntry> trust;
    std::optional<CaptureEntry> host_class;
    const char* shown;
    std::size_t notes;
  } rows[] = {
      {"none", {}, {}, "- -", 0},
      {"both", CaptureFile{"pcp\n"}, CaptureFile{"Global tclass=0\n"}, "pcp 0", 0},
      {"nothing set", CaptureFile{"dscp\n"}, CaptureFile{"\n"}, "dscp -", 0},
      {"empty", CaptureFile{""}, CaptureFile{""}, " -", 0},
      {"rules of single peers", {}, CaptureFile{"tclass=96 src_ip=10.0.0.1\n"}, "- ", 0},
      {"rules and one for all", {}, CaptureFile{"tclass=96\nGlobal tclass=104\n"}, "- 104", 0},
      {"a class that is none", {}, CaptureFile{"Global tclass=256\n"}, "- ", 1},
      {"unreadable", CaptureFailure{"EACCES"}, CaptureFailure{"EIO"}, " ", 2},
  };
  for (const auto& row : rows) {
    Capture machine = ParseMachine(kMachineText);
    if (row.trust) machine.entries[kTrust] = *row.trust;
    if (row.host_class) machine.entries[kClass] = *row.host_class;
    const std::size_t before = ReadWith(machine, 0).node.notes.size();
    const auto node = ReadWith(machine, 8).node;
    ASSERT_TRUE(node.FindNetdev("ens5f1")->dcb.has_value()) << row.what;
    std::string shown = node.FindNetdev("ens5f1")->dcb->trust.value_or("-") + " ";
    for (const auto& hca : node.hcas) {
      if (hca.name == "mlx5_2") shown += hca.ports[0].host_traffic_class.value_or("-");
    }
    EXPECT_EQ(shown, row.shown) << row.what;
    EXPECT_EQ(node.notes.size() - before, row.notes) << row.what;
  }
}

TEST(ReadDcbTest, NobodyToAsk) {
  std::vector<facts::Note> notes;
  const CaptureTree tree(ParseMachine(kMachineText));
  auto ip = ReadIpFiles(tree, &notes);
  ip.dcb = nullptr;
  const auto node = ReadNode(tree, ip, std::nullopt);
  ASSERT_TRUE(node.ok());
  EXPECT_FALSE(node->FindNetdev("ens5f1")->dcb.has_value());
}

}  // namespace
}  // namespace nccl_tune::hw
