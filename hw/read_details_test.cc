// SPDX-License-Identifier: Apache-2.0
#include "hw/read_details.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

using facts::NodeDetails;
using facts::Tristate;

// A card below a switch, a GPU beside it, a card on a root port of its own, and what else details are read from.
constexpr std::string_view kMachine = R"(nccl-tune-capture 1
in sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0
class = 0x020000
vendor = 0x15b3
current_link_speed = 16.0 GT/s PCIe
current_link_width = 8
max_link_speed = 32.0 GT/s PCIe
max_link_width = 16
iommu_group -> ../../../../../../kernel/iommu_groups/7
infiniband/mlx5_0/node_type = 1: CA
infiniband/mlx5_0/device -> ../../../0000:03:00.0
infiniband/mlx5_0/ports/1/state = 4: ACTIVE
infiniband/mlx5_0/ports/1/phys_state = 5: LinkUp
infiniband/mlx5_0/ports/1/link_layer = Ethernet
infiniband/mlx5_0/ports/1/rate = 100 Gb/sec (4X EDR)
infiniband/mlx5_0/ports/1/gids/0 = fe80:0000:0000:0000:0000:5eff:fe00:0001
infiniband/mlx5_0/ports/1/gid_attrs/types/0 = RoCE v2
infiniband/mlx5_0/tc/1/traffic_class = Global tclass=106
infiniband/mlx5_0/ports/2/state = 1: DOWN
infiniband/mlx5_0/ports/2/phys_state = 2: Polling
in sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0
class = 0x030200
vendor = 0x10de
current_link_speed = 2.5 GT/s PCIe
current_link_width = 16
max_link_speed = 32.0 GT/s PCIe
max_link_width = 16
iommu_group -> ../../../../../../kernel/iommu_groups/7
in sys/devices/pci0000:00/0000:00:02.0/0000:05:00.0
class = 0x020700
vendor = 0x15b3
current_link_speed = Unknown
current_link_width = 0
max_link_speed = Unknown
max_link_width = 0
infiniband/mlx5_3/node_type = 1: CA
infiniband/mlx5_3/device -> ../../../0000:05:00.0
infiniband/mlx5_3/ports/1/state = 4: ACTIVE
infiniband/mlx5_3/ports/1/link_layer = InfiniBand
infiniband/mlx5_3/ports/1/rate = 200 Gb/sec (4X HDR)
infiniband/mlx5_3/ports/1/lid = 0x1
infiniband/mlx5_3/ports/1/sm_lid = 0x1
in sys/class/infiniband
mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/infiniband/mlx5_0
mlx5_3 -> ../../devices/pci0000:00/0000:00:02.0/0000:05:00.0/infiniband/mlx5_3
in sys/class/iommu
dmar0 /
in sys/bus/pci/devices
0000:01:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0
0000:02:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0
0000:02:01.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0
0000:03:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0
0000:04:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0
0000:05:00.0 -> ../../../devices/pci0000:00/0000:00:02.0/0000:05:00.0
in sys/kernel/iommu_groups/7
type = DMA-FQ
in sys/kernel/mm/memory_peers
nv_mem/version = 1
in sys/module
nvidia_peermem/version = 570.86.15
ib_core/parameters/netns_mode = Y
in proc
sys/kernel/osrelease = 6.1.0-18-amd64
driver/nvidia/version = NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15
in .
ip-addr.json = []
ip-route.json = []
)";
const std::string kCard = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0";

facts::Node ReadIt(const Tree& tree) {
  std::vector<facts::Note> notes;
  return ReadNode(tree, ReadIpFiles(tree, &notes), std::nullopt).value_or(facts::Node{});
}

const char* Text(Tristate value) { return value == Tristate::kYes ? "yes" : value == Tristate::kNo ? "no" : "unknown"; }

std::string Show(const NodeDetails& d) {
  std::string out;
  for (const auto& f : d.functions) {
    out += f.pci.ToString() + " [" + f.link.ToString() + "] iommu " +
           (f.iommu ? std::to_string(static_cast<int>(*f.iommu)) : "?") + " ro " + Text(f.relaxed_ordering) + "\n";
  }
  for (const auto& b : d.bridges) out += b.pci.ToString() + " acs " + Text(b.acs_redirect) + "\n";
  for (const auto& p : d.ports) {
    out += p.hca + ":" + std::to_string(p.port) + " " + p.physical_state +
           (p.host_traffic_class ? " tc " + std::to_string(*p.host_traffic_class) : "") + "\n";
  }
  const auto& g = d.gpu_direct;
  out += std::string("gdr") + (g.nv_mem ? " nv_mem" : "") + (g.nv_mem_nc ? " nv_mem_nc" : "") +
         (g.nvidia_peermem ? " nvidia-peermem" : "") + (g.peermem_module ? " module" : "") + " " +
         g.nvidia_driver.value_or("?") + (g.nvidia_open_module ? *g.nvidia_open_module ? " open" : " closed" : " ?") +
         "\n";
  out += "kernel " + d.kernel.value_or("?") + " iommu " + (d.has_iommu ? *d.has_iommu ? "yes" : "no" : "?") +
         " netns " +
         (d.rdma_shared_between_namespaces ? *d.rdma_shared_between_namespaces ? "shared" : "exclusive" : "?") + "\n";
  for (const auto& note : d.notes) out += "note " + note.where + ": " + note.what + "\n";
  return out;
}

constexpr const char* kWhole = R"(0000:03:00.0 [PCIe 16 GT/s x8 of 32 GT/s x16] iommu 1 ro unknown
0000:04:00.0 [PCIe 2.5 GT/s x16 of 32 GT/s x16] iommu 1 ro unknown
0000:05:00.0 [] iommu ? ro unknown
0000:01:00.0 acs unknown
0000:02:00.0 acs unknown
0000:02:01.0 acs unknown
mlx5_0:1  tc 106
mlx5_0:2 Polling
gdr nv_mem module 570.86.15 open
kernel 6.1.0-18-amd64 iommu yes netns shared
)";

TEST(ReadDetailsTest, OneMachine) {
  const CaptureTree tree(ParseMachine(kMachine));
  const auto got = ReadDetails(tree, ReadIt(tree), std::nullopt);
  EXPECT_EQ(Show(got), kWhole);
  EXPECT_FALSE(got.locked_memory);
  const auto limited = ReadDetails(tree, ReadIt(tree), facts::LockedMemory{.bytes = 65536});
  ASSERT_TRUE(limited.locked_memory);
  EXPECT_EQ(limited.locked_memory->bytes, 65536u);
}

TEST(ReadDetailsTest, ABadFileCostsOneFact) {
  const struct {
    std::string path;
    CaptureEntry entry;
    const char* from;
    const char* to;
    const char* note;
  } rows[] = {
      {kCard + "/max_link_width", CaptureFailure{"EACCES"}, "16 GT/s x8 of 32 GT/s x16", "16 GT/s x8 of 32 GT/s",
       "EACCES"},
      {kCard + "/max_link_speed", CaptureFile{"fast\n"}, "16 GT/s x8 of 32 GT/s x16", "16 GT/s x8 of x16",
       "not a link speed: got \"fast\", expected a form such as \"32.0 GT/s PCIe\""},
      {kCard + "/current_link_width", CaptureFile{"\n"}, "16 GT/s x8 of", "16 GT/s of",
       "not a link width: got \"\", expected a number of lanes from 1 to 32"},
      {kCard + "/current_link_speed", CaptureFile{std::string(70000, 'x')}, "16 GT/s x8 of", "x8 of",
       "longer than 65536 bytes"},
      {kCard + "/current_link_speed", CaptureFile{"Unknown\n"}, "16 GT/s x8 of", "x8 of", ""},
      {kCard + "/config", CaptureFile{std::string("\xb3\x15\0\xff", 4)}, "", "", ""},
      {kCard + "/config", CaptureFailure{"EIO"}, "", "", ""},
      {"sys/kernel/iommu_groups/7/type", CaptureFile{"identity\n"}, "x16] iommu 1", "x16] iommu 0", ""},
      {"sys/kernel/iommu_groups/7/type", CaptureFailure{"EIO"}, "x16] iommu 1", "x16] iommu ?", "EIO"},
      {kCard + "/infiniband/mlx5_0/tc/1/traffic_class", CaptureFile{"Global tclass=x\n"}, "mlx5_0:1  tc 106\n", "",
       "not a traffic class: got \"x\", expected a number from 0 to 255"},
      {kCard + "/infiniband/mlx5_0/tc/1/traffic_class", CaptureFile{"\n"}, "mlx5_0:1  tc 106\n", "", ""},
      {kCard + "/infiniband/mlx5_0/ports/2/phys_state", CaptureFile{"Polling\n"}, "mlx5_0:2 Polling\n", "",
       "not a physical state: got \"Polling\", expected a form such as \"5: LinkUp\""},
      {"proc/driver/nvidia/version", CaptureFile{"\x01\x02\n"}, "570.86.15 open", "? ?",
       "not the version of NVIDIA's driver: got \"\\x01\\x02\", expected \"NVRM version: NVIDIA ... 570.86.15 ...\""},
      {"sys/module/ib_core/parameters/netns_mode", CaptureFile{"\n"}, "shared", "?",
       "not a switch: got \"\", expected Y or N"},
      {"sys/module/ib_core/parameters/netns_mode", CaptureFile{"N\n"}, "shared", "exclusive", ""},
      {"proc/sys/kernel/osrelease", CaptureFailure{"EACCES"}, "6.1.0-18-amd64", "?", "EACCES"},
  };
  for (const auto& row : rows) {
    Capture capture = ParseMachine(kMachine);
    capture.entries[row.path] = row.entry;
    const CaptureTree tree(capture);
    std::string expected = kWhole;
    const std::string from = row.from;
    for (auto at = expected.find(from); !from.empty() && at != std::string::npos;
         at = expected.find(from, at + std::string(row.to).size()))
      expected.replace(at, from.size(), row.to);
    if (*row.note != '\0') expected += "note " + row.path + ": " + row.note + "\n";
    std::string got = Show(ReadDetails(tree, ReadIt(tree), std::nullopt));
    // A note names the path that was read, which may lead there by a link.
    const std::string by_class = "note sys/class/infiniband/mlx5_0/";
    if (const auto at = got.find(by_class); at != std::string::npos)
      got.replace(at, by_class.size(), "note " + kCard + "/infiniband/mlx5_0/");
    EXPECT_EQ(got, expected) << row.path << row.note;
  }
}

TEST(ReadDetailsTest, ConfigurationSpaceWhereItMayBeRead) {
  std::string card(4096, '\0');
  card[0] = '\xb3';
  card[0x34] = 0x60;
  card[0x60] = 0x10;
  card[0x68] = 0x10;
  std::string bridge(4096, '\0');
  bridge[0] = '\xb3';
  bridge[0x100] = 0x0d;
  bridge[0x106] = 0x1d;
  Capture capture = ParseMachine(kMachine);
  capture.entries[kCard + "/config"] = CaptureFile{card};
  capture.entries["sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/config"] = CaptureFile{bridge};
  capture.entries["sys/devices/pci0000:00/0000:00:01.0/config"] = CaptureFile{bridge};
  const CaptureTree tree(capture);
  const auto got = ReadDetails(tree, ReadIt(tree), std::nullopt);
  EXPECT_EQ(got.functions[0].relaxed_ordering, Tristate::kYes);
  ASSERT_EQ(got.bridges.size(), 3u) << "a root port is none: what meets there goes through the root complex";
  EXPECT_EQ(got.bridges[1].pci.ToString(), "0000:02:00.0");
  EXPECT_EQ(got.bridges[1].acs_redirect, Tristate::kYes);
  EXPECT_EQ(got.bridges[0].acs_redirect, Tristate::kUnknown);
}

TEST(ReadDetailsTest, ATreeWithoutAnyOfItIsNoFault) {
  Capture capture;
  capture.entries["sys/class/net/lo/operstate"] = CaptureFile{"unknown\n"};
  const CaptureTree bare(capture);
  EXPECT_EQ(Show(ReadDetails(bare, ReadIt(bare), std::nullopt)), "gdr ? ?\nkernel ? iommu ? netns ?\n");
  capture.entries["sys/class/iommu"] = CaptureFolder{};
  const CaptureTree no_iommu(capture);
  EXPECT_EQ(Show(ReadDetails(no_iommu, ReadIt(no_iommu), std::nullopt)), "gdr ? ?\nkernel ? iommu no netns ?\n");
}

TEST(ReadDetailsTest, ReadsEachFileOnceAndABoundedNumberOfThem) {
  const CaptureTree whole(ParseMachine(kMachine));
  const auto node = ReadIt(whole);
  const CountingTree tree(whole);
  ReadDetails(tree, node, std::nullopt);
  for (const auto& [path, count] : tree.reads()) EXPECT_EQ(count, 1) << path;
  facts::Node many;
  for (int i = 0; i < 700; ++i) {
    const facts::PciAddress pci{.domain = static_cast<std::uint32_t>(i), .bus = 1, .device = 0, .function = 0};
    many.gpus.push_back(
        {.pci = pci, .vendor = facts::GpuVendor::kAmd, .numa_node = std::nullopt, .pci_path = {pci, pci}});
  }
  const auto got = ReadDetails(whole, many, std::nullopt);
  EXPECT_EQ(got.functions.size(), 512u);
  EXPECT_EQ(got.bridges.size(), 128u);
  ASSERT_EQ(got.notes.size(), 2u);
  EXPECT_EQ(got.notes[0].what, "700 functions: looked at the first 512");
}

// The plugin calls ReadNode only, and pays for no detail.
TEST(ReadDetailsTest, ReadNodeReadsNoneOfIt) {
  const CaptureTree whole(ParseMachine(kMachine));
  const CountingTree tree(whole);
  ReadIt(tree);
  for (const auto& [path, count] : tree.reads()) {
    for (const char* detail :
         {"_link_", "/config", "iommu", "phys_state", "/tc/", "memory_peers", "sys/module", "proc/"}) {
      EXPECT_EQ(path.find(detail), std::string::npos) << path;
    }
  }
}

}  // namespace
}  // namespace nccl_tune::hw
