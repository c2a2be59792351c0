// SPDX-License-Identifier: Apache-2.0
//
// What reading a machine may cost, in files: each once, a port that is not ACTIVE its state alone, an empty GID slot
// its gid alone. On every captured machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "hw/test_machine.h"
#include "hw/user_file.h"

namespace nccl_tune::hw {
namespace {

struct Reading {
  facts::Node node;
  std::map<std::string, int> reads;  // resolved path to number of reads
};

// Reads the machine as `nccl-tune --host` does.
Reading ReadCounted(const Tree& tree) {
  const CountingTree counting(tree);
  std::vector<facts::Note> notes;
  const auto ip = ReadIpFiles(tree, &notes);
  auto node = ReadNode(counting, ip, std::nullopt);
  EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().ToString());
  return {.node = std::move(node).value_or(facts::Node{}), .reads = counting.reads()};
}

// Files read below `folder`, relative to it.
std::vector<std::string> ReadBelow(const Reading& reading, const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& [path, reads] : reading.reads) {
    if (path.starts_with(folder + "/")) out.push_back(path.substr(folder.size() + 1));
  }
  return out;
}

void ExpectEachOnce(const Reading& reading) {
  for (const auto& [path, reads] : reading.reads) EXPECT_EQ(reads, 1) << path;
}

// The slots whose type and interface may be asked for are those that hold a GID.
void ExpectPortCost(const Reading& reading, const std::string& folder, const facts::IbPort& port) {
  const auto files = ReadBelow(reading, folder);
  if (port.state != facts::PortState::kActive) {
    EXPECT_EQ(files, std::vector<std::string>{"state"}) << folder;
    return;
  }
  std::vector<std::string> allowed;
  for (const auto& gid : port.gids) allowed.push_back(std::to_string(gid.index));
  for (const auto& file : files) {
    if (!file.starts_with("gid_attrs/")) continue;
    const std::string slot = file.substr(file.rfind('/') + 1);
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), slot), allowed.end()) << folder << "/" << file;
  }
}

void ExpectLeastCost(const Tree& tree) {
  const auto reading = ReadCounted(tree);
  ExpectEachOnce(reading);
  for (const auto& hca : reading.node.hcas) {
    const auto place = tree.Resolve("sys/class/infiniband/" + hca.name);
    ASSERT_TRUE(place.ok()) << hca.name;
    for (const auto& port : hca.ports) {
      ExpectPortCost(reading, *place + "/ports/" + std::to_string(port.number), port);
    }
  }
}

constexpr char kCard[] = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2";

TEST(ReadOnce, SmallMachine) {
  const CaptureTree tree(ParseMachine(kMachineText));
  ExpectLeastCost(tree);
  const auto reading = ReadCounted(tree);
  EXPECT_EQ(ReadBelow(reading, std::string(kCard) + "/ports/2"), std::vector<std::string>{"state"});
  EXPECT_EQ(ReadBelow(reading, std::string(kCard) + "/ports/1/gids"),
            (std::vector<std::string>{"0", "1", "10", "2", "3", "4"}));
  const std::vector<std::string> filled = {"0", "1", "10", "2", "3"};
  EXPECT_EQ(ReadBelow(reading, std::string(kCard) + "/ports/1/gid_attrs/types"), filled);
  EXPECT_EQ(ReadBelow(reading, std::string(kCard) + "/ports/1/gid_attrs/ndevs"), filled);
}

// A test that could not fail would prove nothing.
TEST(ReadOnce, CountsEachRead) {
  const CaptureTree tree(ParseMachine(kMachineText));
  const CountingTree counting(tree);
  EXPECT_TRUE(counting.Read("sys/class/net/lo/mtu").ok());
  EXPECT_TRUE(counting.Read("sys/devices/virtual/net/lo/mtu").ok());
  EXPECT_EQ(counting.reads().at("sys/devices/virtual/net/lo/mtu"), 2);
}

// States other than ACTIVE, and one that makes no sense.
TEST(ReadOnce, PortThatIsNotActive) {
  const std::string active = "ports/1/state = 4: ACTIVE";  // the first is the card's
  for (const std::string state : {"1: DOWN", "2: INIT", "3: ARMED", "5: ACTIVE_DEFER", "0: NOP", "4: DOWN", "x"}) {
    SCOPED_TRACE(state);
    std::string text(kMachineText);
    const auto at = text.find(active);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, active.size(), "ports/1/state = " + state);
    const CaptureTree tree(ParseMachine(text));
    EXPECT_EQ(ReadBelow(ReadCounted(tree), std::string(kCard) + "/ports/1"), std::vector<std::string>{"state"});
  }
}

TEST(ReadOnce, EveryCapture) {
  const std::string folder = "tests/hosts";
  const auto directory = DirectoryTree::Open(folder);
  ASSERT_TRUE(directory.ok());
  int machines = 0;
  for (const auto& name : (*directory)->List(".").value_or({})) {
    if (!name.ends_with(".capture")) continue;
    SCOPED_TRACE(name);
    constexpr std::size_t kLimit = 8 << 20;
    const auto text = ReadUserFile(folder + "/" + name, kLimit);
    ASSERT_TRUE(text.ok()) << text.error().ToString();
    ExpectLeastCost(CaptureTree(ParseMachine(*text)));
    ++machines;
  }
  EXPECT_GE(machines, 44);
}

}  // namespace
}  // namespace nccl_tune::hw
