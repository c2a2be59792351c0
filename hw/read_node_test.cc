// SPDX-License-Identifier: Apache-2.0
#include "hw/read_node.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

base::Result<facts::Node> Read(const Tree& tree) {
  std::vector<facts::Note> notes;
  return ReadNode(tree, ReadIpFiles(tree, &notes), *facts::ParseIpAddress("8.8.4.4"));
}

TEST(ReadNodeTest, JoinsAllReaders) {
  const auto got = Read(CaptureTree(ParseMachine(kMachineText)));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->hcas.size(), 3u);
  EXPECT_EQ(got->netdevs.size(), 5u);
  EXPECT_EQ(got->gpus.size(), 1u);
  EXPECT_EQ(got->routes.size(), 3u);
  EXPECT_EQ(got->address->ToString(), "8.8.4.4");
  EXPECT_TRUE(got->notes.empty());
}

// The GID table names the interface; else the PCI function does, when it has one only.
TEST(ReadNodeTest, FindsThePortsOwnInterface) {
  const std::string card = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1";
  const struct {
    bool without_ndevs;
    bool second_interface;
    const char* netdev;
  } rows[] = {
      {false, false, "ens5f1"},
      {true, false, "ens5f1"},
      {false, true, "ens5f1"},
      {true, true, ""},
  };
  for (const auto& row : rows) {
    Capture capture = ParseMachine(kMachineText);
    if (row.without_ndevs)
      std::erase_if(capture.entries, [](const auto& e) { return e.first.find("/ndevs/") != std::string::npos; });
    if (row.second_interface) {
      capture.entries[card + "/net/second/ifindex"] = CaptureFile{"11\n"};
      capture.entries[card + "/net/second/operstate"] = CaptureFile{"up\n"};
      capture.entries[card + "/net/second/device"] = CaptureLink{"../../../0000:03:00.1"};
      capture.entries["sys/class/net/second"] =
          CaptureLink{"../../devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/second"};
    }
    const auto got = Read(CaptureTree(capture));
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->hcas[1].ports[0].netdev.value_or(""), row.netdev) << row.without_ndevs << row.second_interface;
  }
}

TEST(ReadNodeTest, ATreeThatIsNoMachineIsRefused) {
  const char* message =
      "sys/class/net, sys/class/infiniband: no machine here: neither network interfaces nor RDMA devices. A tree needs "
      "sys/ at "
      "its top, as this machine's root has it";
  for (const char* path : {"etc/passwd", "class/net/lo/mtu", "sys/class/net", "sys/class/netx/lo/mtu"}) {
    Capture capture;
    capture.entries[path] = CaptureFolder{};
    const auto got = Read(CaptureTree(capture));
    ASSERT_FALSE(got.ok()) << path;
    EXPECT_EQ(got.error().ToString(), message);
    EXPECT_EQ(got.error().code, base::Code::kNotFound);
  }
  Capture capture;
  capture.entries["sys/class/net/lo/operstate"] = CaptureFile{"unknown\n"};
  EXPECT_TRUE(Read(CaptureTree(capture)).ok());
}

}  // namespace
}  // namespace nccl_tune::hw
