// SPDX-License-Identifier: Apache-2.0
#include "hw/gather.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/facts/node.h"
#include "hw/capture_tree.h"
#include "hw/read_node.h"
#include "hw/test_machine.h"
#include "hw/test_show.h"

namespace nccl_tune::hw {
namespace {

std::string Facts(const Tree& tree, const char* address) {
  std::vector<facts::Note> notes;
  const auto ip = ReadIpFiles(tree, &notes);
  const auto node = ReadNode(tree, ip, facts::ParseIpAddress(address).value());
  return node.ok() ? Show(*node) : node.error().ToString();
}

Capture Take(const Tree& tree, const char* address) {
  std::vector<facts::Note> notes;
  return Gather(tree, ReadIpFiles(tree, &notes), facts::ParseIpAddress(address).value());
}

void ReplaceAll(std::string* text, std::string_view from, std::string_view to) {
  for (auto at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

TEST(GatherTest, TheCaptureHasTheSameFacts) {
  const CaptureTree machine(ParseMachine(kMachineText));
  const std::string text = WriteCapture(Take(machine, "8.8.4.4"));
  const auto capture = ParseCapture(text, "f");
  ASSERT_TRUE(capture.ok()) << capture.error().ToString() << "\n" << text;
  EXPECT_EQ(capture->header.at("node-addr"), "100.65.4.4");
  std::string expected = Facts(machine, "8.8.4.4");
  // What a scrubber makes of them, in the order in which they are met: mlx5_0, mlx5_2, rxe0, interfaces by name.
  ReplaceAll(&expected, "8.8.4.", "100.65.4.");
  ReplaceAll(&expected, "2a00:1450:4001:800:e42:a1ff:fe03:3", "2001:db8:0:1:0:5eff:fe00:1");
  ReplaceAll(&expected, "2a00:1450:4001:800:", "2001:db8:0:1:");
  ReplaceAll(&expected, "fe80::e42:a1ff:fe03:3", "fe80::5eff:fe00:1");
  ReplaceAll(&expected, "0c42:a103:0009:0001", "0200:5eff:fe01:0001");
  ReplaceAll(&expected, "0c42:a103:0003:0002", "0200:5eff:fe01:0003");
  ReplaceAll(&expected, "enx0c42a1030008", "enx02005e000004");
  EXPECT_EQ(Facts(CaptureTree(*capture), "100.65.4.4"), expected);
}

TEST(GatherTest, NothingThatNamesTheMachineRemains) {
  Capture machine = ParseMachine(kMachineText);
  const std::string card = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1";
  machine.entries[card + "/serial_number"] = CaptureFile{"MT2034X12345\n"};
  machine.entries[card + "/vpd"] = CaptureFile{"MT2034X12345\n"};
  machine.entries[card + "/infiniband/mlx5_2/node_desc"] = CaptureFile{"gpu17.example.org mlx5_2\n"};
  machine.entries[card + "/net/ens5f1/ifalias"] = CaptureFile{"to gpu17.example.org\n"};
  machine.entries["proc/sys/kernel/hostname"] = CaptureFile{"gpu17.example.org\n"};
  machine.header["name"] = "gpu17.example.org";
  machine.entries["sys/devices/virtual/net/ib0/address"] =
      CaptureFile{"00:00:10:28:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:09:00:01\n"};
  machine.entries["sys/devices/virtual/net/ib0/operstate"] = CaptureFile{"up\n"};
  machine.entries["sys/class/net/ib0"] = CaptureLink{"../../devices/virtual/net/ib0"};
  const std::string text = WriteCapture(Take(CaptureTree(machine), "8.8.4.4"));
  for (const char* word : {"0c:42:a1", "0c42:a1", "0c42a1", "0e42:a1", "e42:a1", "8.8.4.", "0808:04", "2a00:1450",
                           "a103", "MT2034", "gpu17", "example", "12345"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
  EXPECT_NE(text.find("172.20.0.11"), std::string::npos) << "private addresses stay";
  EXPECT_NE(text.find("ens5f1"), std::string::npos);
}

TEST(GatherTest, ACaptureOfACaptureIsTheSame) {
  Capture machine = ParseMachine(kMachineText);
  // Names and numbers that would come in another order the second time.
  for (const char* name : {"enx0c42a1030000", "enxfc42a1030001", "enxac42a1030002"}) {
    machine.entries[std::string("sys/class/net/") + name + "/operstate"] = CaptureFile{"up\n"};
    machine.entries[std::string("sys/class/net/") + name + "/address"] =
        CaptureFile{std::string(name[3] == 'f' ? "fc" : "ac") + ":42:a1:03:00:01\n"};
  }
  const std::string gids = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2/ports/1/gids/";
  machine.entries[gids + "11"] = CaptureFile{"2a01:0000:0000:0002:1234:5678:9abc:def0\n"};
  machine.entries[gids + "12"] = CaptureFile{"2a01:0000:0000:0001:1234:5678:9abc:def1\n"};
  const Capture first = Take(CaptureTree(machine), "8.8.4.4");
  const Capture second = Take(CaptureTree(first), "100.65.4.4");
  EXPECT_EQ(WriteCapture(second), WriteCapture(first));
  EXPECT_EQ(Facts(CaptureTree(second), "100.65.4.4"), Facts(CaptureTree(first), "100.65.4.4"));
}

TEST(GatherTest, KeepsWhatCannotBeReadAsSuch) {
  const std::string port = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2/ports/1/";
  Capture machine = ParseMachine(kMachineText);
  machine.entries[port + "rate"] = CaptureFailure{"EACCES"};
  machine.entries[port + "state"] = CaptureFailure{"EIO"};
  machine.entries[port + "lid"] = CaptureFile{"odd\x1b[31m\n"};
  const Capture got = Take(CaptureTree(machine), "8.8.4.4");
  const auto failure = [&](const std::string& path) {
    const auto found = got.entries.find(path);
    const auto* entry = found == got.entries.end() ? nullptr : std::get_if<CaptureFailure>(&found->second);
    return entry == nullptr ? std::string("none") : entry->errno_name;
  };
  EXPECT_EQ(failure(port + "rate"), "EACCES");
  EXPECT_EQ(failure(port + "state"), "EINVAL");
  EXPECT_EQ(failure(port + "gid_attrs/types/4"), "EINVAL");
  EXPECT_FALSE(got.entries.contains(port + "lid")) << "text that the format cannot carry stays behind";
  EXPECT_TRUE(ParseCapture(WriteCapture(got), "f").ok());
}

TEST(GatherTest, KeepsSignsThatHoldNoFile) {
  const struct {
    const char* lines;  // below sys/class/net/x
    const char* dev;
  } rows[] = {
      {"phy80211/name = phy0", ""},
      {"bridge/x = 1", ""},
      {"wireless /", ""},
      {"device/modalias = x", ""},
      {"device -> ../../../devices/platform/nic\nin sys/devices/platform/nic\nmodalias = x", ""},
      {"type = 1", "in .\ndev /"},
      {"type = 1", "in .\ndev/null * rw"},
  };
  for (const auto& row : rows) {
    const CaptureTree machine(ParseMachine(
        "nccl-tune-capture 1\nin sys/class/net/x\noperstate = up\nflags = 0x1003\n" + std::string(row.lines) +
        "\nin sys/class/infiniband/rxe0\nnode_type = 1: CA\n" + "ports/1/state = 1: DOWN\n" + row.dev + "\n"));
    EXPECT_EQ(Facts(CaptureTree(Take(machine, "10.0.0.1")), "10.0.0.1"), Facts(machine, "10.0.0.1"))
        << row.lines << row.dev;
  }
}

TEST(GatherTest, LeavesOutNamesThatTheFormatCannotCarry) {
  Capture machine = ParseMachine(kMachineText);
  machine.entries["sys/class/net/odd name/operstate"] = CaptureFile{"up\n"};
  machine.entries["sys/class/net/\xff/operstate"] = CaptureFile{"up\n"};
  machine.entries["sys/class/net/in/operstate"] = CaptureFile{"up\n"};
  const auto again = ParseCapture(WriteCapture(Take(CaptureTree(machine), "10.0.0.1")), "f");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_TRUE(again->entries.contains("sys/class/net/in/operstate"));
  EXPECT_FALSE(again->entries.contains("sys/class/net/odd name/operstate"));
}

}  // namespace
}  // namespace nccl_tune::hw
