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
#include "hw/read_details.h"
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

// What keeps RoCE traffic from being dropped, under the interface's own name and under one that holds its address.
TEST(GatherTest, TheCaptureHasTheSameDcb) {
  Capture machine = ParseMachine(kMachineText);
  const std::string card = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1";
  machine.entries[card + "/net/ens5f1/qos/trust"] = CaptureFile{"dscp\n"};
  machine.entries[card + "/infiniband/mlx5_2/tc/1/traffic_class"] = CaptureFile{"rule\nGlobal tclass=106\n"};
  for (const std::string name : {"ens5f1", "enx0c42a1030008", "bond0"}) {
    machine.entries["dcb/" + name + "/pfc.json"] =
        CaptureFile{R"({"pfc_cap":8,"prio_pfc":[false,false,false,true,false,false,false,false]})"};
    machine.entries["dcb/" + name + "/app.json"] = CaptureFile{R"({"default_prio":[0],"dscp_prio":[[26,3],[48,6]]})"};
  }
  const auto show = [](const Tree& tree) {
    std::vector<facts::Note> notes;
    const auto node = ReadNode(tree, ReadIpFiles(tree, &notes), std::nullopt).value_or(facts::Node{});
    const auto* netdev = node.FindNetdev("ens5f1");
    if (netdev == nullptr || !netdev->dcb) return std::string("none");
    std::string out = std::to_string(netdev->dcb->pfc) + " " + netdev->dcb->trust.value_or("-");
    for (const auto& entry : netdev->dcb->dscp)
      out += " " + std::to_string(entry.dscp) + ":" + std::to_string(entry.priority);
    for (const auto& hca : node.hcas) out += " " + hca.ports[0].host_traffic_class.value_or("-");
    return out;
  };
  EXPECT_EQ(show(CaptureTree(machine)), "8 dscp 26:3 48:6 - 106 -");
  const Capture taken = Take(CaptureTree(machine), "8.8.4.4");
  EXPECT_EQ(show(CaptureTree(taken)), "8 dscp 26:3 48:6 - 106 -");
  EXPECT_TRUE(taken.entries.contains("dcb/enx02005e000004/app.json"));
  EXPECT_FALSE(taken.entries.contains("dcb/bond0/pfc.json")) << "no device";
  const std::string text = WriteCapture(taken);
  EXPECT_EQ(WriteCapture(Take(CaptureTree(taken), "100.65.4.4")), text);
  machine.entries.erase("sys/class/infiniband/mlx5_0");
  machine.entries.erase("sys/class/infiniband/mlx5_2");
  machine.entries.erase("sys/class/infiniband/rxe0");
  EXPECT_EQ(WriteCapture(Take(CaptureTree(machine), "8.8.4.4")).find("dcb"), std::string::npos) << "no RDMA device";
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

// Details, and what an interface lies on: in the capture as on the machine, without the names of people and places.
TEST(GatherTest, TheCaptureHasTheSameDetails) {
  Capture machine = ParseMachine(kMachineText);
  const std::string card = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1";
  const auto put = [&](const std::string& path, const std::string& line) {
    machine.entries[path] = CaptureFile{line + "\n"};
  };
  put(card + "/current_link_speed", "16.0 GT/s PCIe");
  put(card + "/max_link_width", "16");
  machine.entries[card + "/iommu_group"] = CaptureLink{"../../../../kernel/iommu_groups/3"};
  put("sys/kernel/iommu_groups/3/type", "DMA");
  machine.entries["sys/class/iommu/dmar0"] = CaptureFolder{};
  put(card + "/infiniband/mlx5_2/tc/1/traffic_class", "rule\nGlobal tclass=106");
  put(card + "/infiniband/mlx5_2/ports/2/phys_state", "2: Polling");
  put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module  570.86.15  Build (ann@gpu17)\nx");
  put("sys/kernel/mm/memory_peers/nv_mem_nc/version", "1");
  put("sys/module/ib_core/parameters/netns_mode", "N");
  put("proc/sys/kernel/osrelease", "6.1.0");
  for (const char* name : {"vlan7", "ipoib0", "mac0"}) {
    const std::string folder = std::string("sys/devices/virtual/net/") + name;
    machine.entries[std::string("sys/class/net/") + name] =
        CaptureLink{std::string("../../devices/virtual/net/") + name};
    put(folder + "/flags", "0x1003");
    put(folder + "/operstate", "up");
    put(folder + "/carrier", "1");
  }
  put("sys/devices/virtual/net/vlan7/uevent", "INTERFACE=vlan7\nDEVTYPE=vlan");
  put("sys/devices/virtual/net/mac0/uevent", "DEVTYPE=macvlan");
  machine.entries["sys/devices/virtual/net/mac0/lower_ens5f1"] = CaptureLink{"../../../pci0000:00"};
  put("sys/devices/virtual/net/ipoib0/type", "32");
  put("sys/devices/virtual/net/ipoib0/pkey", "0x8001");
  put("sys/devices/virtual/net/ipoib0/parent", "enx0c42a1030008");
  put("proc/net/vlan/config", "VLAN Dev name | VLAN ID\nvlan7 | 7 | enx0c42a1030008");
  const auto show = [](const Tree& tree) {
    std::vector<facts::Note> notes;
    const auto node = ReadNode(tree, ReadIpFiles(tree, &notes), std::nullopt).value_or(facts::Node{});
    std::string out;
    for (const char* name : {"vlan7", "ipoib0", "mac0"}) {
      const auto* netdev = node.FindNetdev(name);
      out += netdev == nullptr ? "none\n" : Show(*netdev) + "\n";
    }
    const auto details = ReadDetails(tree, node, std::nullopt);
    for (const auto& f : details.functions) {
      out += f.pci.ToString() + " " + f.link.ToString() + (f.iommu ? " iommu" : "") + "\n";
    }
    for (const auto& p : details.ports)
      out += p.physical_state + std::to_string(p.host_traffic_class.value_or(0)) + "\n";
    return out + details.gpu_direct.nvidia_driver.value_or("?") + (details.gpu_direct.nv_mem_nc ? " nc " : " ") +
           details.kernel.value_or("?") + (details.has_iommu == true ? " iommu" : "") +
           (details.rdma_shared_between_namespaces == false ? " exclusive" : "") + std::to_string(details.notes.size());
  };
  const CaptureTree before(machine);
  const Capture taken = Take(before, "8.8.4.4");
  std::string expected = show(before);
  EXPECT_NE(expected.find("on ens5f1"), std::string::npos) << expected;
  EXPECT_NE(expected.find("on enx0c42a1030008 vlan7"), std::string::npos) << expected;
  EXPECT_NE(expected.find("16 GT/s iommu\n"), std::string::npos) << expected;
  EXPECT_NE(expected.find("570.86.15 nc 6.1.0 iommu exclusive0"), std::string::npos) << expected;
  ReplaceAll(&expected, "enx0c42a1030008", "enx02005e000004");
  EXPECT_EQ(show(CaptureTree(taken)), expected);
  const std::string text = WriteCapture(taken);
  EXPECT_EQ(text.find("ann@"), std::string::npos);
  EXPECT_EQ(text.find("gpu17"), std::string::npos);
  EXPECT_EQ(text.find("0c42a1"), std::string::npos);
  EXPECT_TRUE(ParseCapture(text, "f").ok());
  EXPECT_EQ(WriteCapture(Take(CaptureTree(taken), "100.65.4.4")), text);
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

// A link to a folder without anything to take in it still leads somewhere.
TEST(GatherTest, LinksToEmptyFoldersStayLinks) {
  const char* rows[] = {
      "in sys/bus/pci/devices\n0000:03:00.0 -> ../../../devices/x/0000:03:00.0\nin sys/devices/x/0000:03:00.0\nodd = 1",
      "in sys/class/net\neth1 -> ../../devices/x/eth1\nin sys/devices/x\neth1 /",
      "in sys/class/infiniband\nmlx5_0 -> ../../devices/x/mlx5_0\nin sys/devices/x\nmlx5_0 /",
      "in sys/class/net/eth1\nmaster -> ../bond0\nin sys/class/net/bond0\nodd = 1",
      ("in sys/class/net/eth1\ndevice -> ../../../devices/x\nin sys/devices/x\nphysfn -> ../y\ndriver -> ../z\n"
       "in sys/devices\ny /\nz /"),
  };
  for (const char* row : rows) {
    const Capture machine =
        ParseMachine("nccl-tune-capture 1\nsys/class/net/eth0/operstate = up\n" + std::string(row) + "\n");
    const Capture first = Take(CaptureTree(machine), "10.0.0.1");
    EXPECT_EQ(WriteCapture(Take(CaptureTree(first), "10.0.0.1")), WriteCapture(first)) << row;
    for (const auto& [path, entry] : first.entries) EXPECT_TRUE(CaptureTree(first).Exists(path)) << path;
  }
}

// Nothing is taken for the sake of something that is not in the capture itself.
TEST(GatherTest, NothingHangsOnWhatStaysBehind) {
  constexpr std::string_view kPfc =
      "in sys/class/net/eth0/device\nvendor = 0x15b3\nin dcb/eth0\n"
      R"(pfc.json = {"pfc_cap":8,"prio_pfc":[false,false,false,true,false,false,false,false]})";
  const struct {
    const char* what;
    std::string lines;
    const char* word;  // stands in the capture only where it is taken
    bool taken;
  } rows[] = {
      {"verbs device that is a file", "in sys/class/infiniband_verbs\nuverbs0 = 1", "uverbs0", false},
      {"verbs device that fails", "in sys/class/infiniband_verbs\nuverbs0 ! EIO", "uverbs0", false},
      {"verbs device that leads to a file", "in sys/class/infiniband_verbs\nuverbs0 -> ../../x\nin sys\nx = 1",
       "uverbs0", false},
      {"verbs device that leads nowhere", "in sys/class/infiniband_verbs\nuverbs0 -> ../../x", "uverbs0", false},
      {"empty verbs device", "in sys/class/infiniband_verbs\nuverbs0 /", "uverbs0 * rw", true},
      {"empty RDMA device", "in sys/class/infiniband\nmlx5_0 /\n" + std::string(kPfc), "pfc.json", true},
      {"RDMA device that is a file", "in sys/class/infiniband\nmlx5_0 = 1\n" + std::string(kPfc), "pfc.json", false},
      {"RDMA device that leads nowhere", "in sys/class/infiniband\nmlx5_0 -> ../../x\n" + std::string(kPfc), "pfc.json",
       false},
      {"port that is a file", "in sys/class/infiniband/mlx5_0\nports/1 = 1\ntc/1/traffic_class = Global tclass=106",
       "tclass", false},
      {"empty port", "in sys/class/infiniband/mlx5_0\nports/1 /\ntc/1/traffic_class = Global tclass=106", "tclass",
       true},
      {"interface that leads to a file", "in sys/class/net\neth1 -> ../../x\nin sys\nx = 1", "eth1", false},
      {"device that is a file", "in sys/class/net/eth1\ndevice = 1", "device", false},
      {"driver that leads to a file",
       "in sys/bus/pci/devices/0000:03:00.0\ndriver -> ../x\nin sys/bus/pci/devices\nx = 1", "driver", false},
      {"class that cannot be kept", "in sys/bus/pci/devices/0000:03:00.0\nclass = 0x02\u00e9\niommu_group/type = DMA",
       "DMA", false},
      {"class behind a blank", "in sys/bus/pci/devices/0000:03:00.0\nclass =  0x02\niommu_group/type = DMA", "DMA",
       true},
      {"layer that is a folder", "in sys/class/net/eth1\nlower_enx0c42a1030008 /", "0c42a1", false},
      {"driver version of a blank", "in proc/driver/nvidia\nversion =  (built by x", "proc/driver", false},
  };
  for (const auto& row : rows) {
    const CaptureTree machine(
        ParseMachine("nccl-tune-capture 1\nin dev/infiniband\nuverbs0 * rw\nin sys/class/net\n"
                     "eth0/operstate = up\n" +
                     row.lines + "\n"));
    const std::string once = WriteCapture(Take(machine, "10.0.0.1"));
    const auto capture = ParseCapture(once, "f");
    ASSERT_TRUE(capture.ok()) << row.what << ": " << capture.error().ToString();
    EXPECT_EQ(WriteCapture(Take(CaptureTree(*capture), "10.0.0.1")), once) << row.what;
    EXPECT_EQ(once.find(row.word) != std::string::npos, row.taken) << row.what << "\n" << once;
  }
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
  EXPECT_EQ(failure(port + "lid"), "EINVAL") << "text that the format cannot carry: not as if there were no file";
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
  machine.entries["sys/class/net/eth7/device"] = CaptureLink{"../../../devices/odd name"};
  machine.entries["sys/devices/odd name/wireless/x"] = CaptureFile{"1\n"};
  const auto again = ParseCapture(WriteCapture(Take(CaptureTree(machine), "10.0.0.1")), "f");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_TRUE(again->entries.contains("sys/class/net/in/operstate"));
  EXPECT_FALSE(again->entries.contains("sys/class/net/odd name/operstate"));
}

}  // namespace
}  // namespace nccl_tune::hw
