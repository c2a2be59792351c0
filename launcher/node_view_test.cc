// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "launcher/numa_nodes.h"

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string>;

facts::PciAddress Pci(int bus) {
  return {.domain = 0, .bus = static_cast<std::uint8_t>(bus), .device = 0, .function = 0};
}

// On NUMA node `numa` (-1: unknown), behind the root port on bus `path[0]` and the switches on the rest.
facts::Gpu Gpu(int bus, int numa, const std::vector<int>& path) {
  facts::Gpu gpu{};
  gpu.pci = Pci(bus);
  if (numa >= 0) gpu.numa_node = numa;
  for (const int one : path) gpu.pci_path.push_back(Pci(one));
  return gpu;
}

facts::Hca Hca(const std::string& name, int numa, const std::vector<int>& path,
               facts::PortState state = facts::PortState::kActive) {
  facts::Hca hca{};
  hca.name = name;
  if (numa >= 0) hca.numa_node = numa;
  for (const int one : path) hca.pci_path.push_back(Pci(one));
  facts::IbPort port{};
  port.number = 1;
  port.state = state;
  hca.ports.push_back(port);
  return hca;
}

facts::Node NodeOf(std::vector<facts::Gpu> gpus, std::vector<facts::Hca> hcas) {
  facts::Node node{};
  node.gpus = std::move(gpus);
  node.hcas = std::move(hcas);
  return node;
}

TEST(NodeViewTest, FindsTheNearestHca) {
  struct Case {
    const char* what;
    facts::Node node;
    Names selected;
    Names nearest;
  };
  constexpr auto kDown = facts::PortState::kDown;
  for (const Case& one : std::vector<Case>{
           {"a switch each",
            NodeOf({Gpu(1, 0, {10, 11}), Gpu(2, 0, {20, 21})}, {Hca("a", 0, {20, 21}), Hca("b", 0, {10, 11})}),
            {},
            {"b", "a"}},
           {"two of each behind one switch",
            NodeOf({Gpu(1, 0, {10, 11}), Gpu(2, 0, {10, 11})}, {Hca("a", 0, {10, 11}), Hca("b", 0, {10, 11})}),
            {},
            {"a", "b"}},
           {"the inner switch wins",
            NodeOf({Gpu(1, 0, {10, 11, 12})}, {Hca("a", 0, {10, 11}), Hca("b", 0, {10, 11, 12})}),
            {},
            {"b"}},
           {"by NUMA node",
            NodeOf({Gpu(1, 1, {10}), Gpu(2, 0, {20})}, {Hca("a", 0, {30}), Hca("b", 1, {40})}),
            {},
            {"b", "a"}},
           {"in turn on one NUMA node",
            NodeOf({Gpu(1, 0, {10}), Gpu(2, 0, {20}), Gpu(3, 0, {21})}, {Hca("a", 0, {30}), Hca("b", 0, {40})}),
            {},
            {"a", "b", "a"}},
           {"only those selected", NodeOf({Gpu(1, 0, {10})}, {Hca("a", 0, {10}), Hca("b", 0, {40})}), {"b"}, {"b"}},
           {"only those with an active port",
            NodeOf({Gpu(1, 0, {10})}, {Hca("a", 0, {10}, kDown), Hca("b", 0, {40})}),
            {},
            {"b"}},
           {"another NUMA node", NodeOf({Gpu(1, 0, {10})}, {Hca("a", 1, {40})}), {}, {""}},
           {"nothing is known", NodeOf({Gpu(1, -1, {})}, {Hca("a", -1, {})}), {}, {""}},
           {"none", NodeOf({Gpu(1, 0, {10})}, {}), {}, {""}},
           {"a name that is not there", NodeOf({Gpu(1, 0, {10})}, {Hca("a", 0, {10})}), {"b"}, {""}},
           {"no GPU", NodeOf({}, {Hca("a", 0, {10})}), {}, {}},
       }) {
    EXPECT_EQ(NearestHcas(one.node, one.selected), one.nearest) << one.what;
  }
}

std::string Show(const std::vector<GpuView>& views) {
  std::string text;
  for (const GpuView& one : views) {
    text += (text.empty() ? "" : " | ") + one.visible_id + " " + (one.pci.empty() ? "-" : one.pci) + " " +
            (one.numa ? std::to_string(*one.numa) : "-") + " " + (one.nic.empty() ? "-" : one.nic);
  }
  return text;
}

TEST(NodeViewTest, PlacesVisibleGpus) {
  const facts::Node node = NodeOf({Gpu(1, 0, {10}), Gpu(2, 1, {20}), Gpu(3, -1, {30})}, {});
  const Names nics = {"a", "b", ""};
  const std::vector<GpuUuid> uuids = {{Pci(1), "GPU-aa11"}, {Pci(2), "GPU-aa22"}};
  struct Case {
    base::Environment environment;
    const char* views;
  };
  for (const Case& one : std::vector<Case>{
           {{}, "0 0000:01:00.0 0 a | 1 0000:02:00.0 1 b | 2 0000:03:00.0 - -"},
           {{{"CUDA_VISIBLE_DEVICES", "1,0"}}, "1 0000:02:00.0 1 b | 0 0000:01:00.0 0 a"},
           {{{"CUDA_VISIBLE_DEVICES", "0"}, {"SLURM_STEP_GPUS", "1"}}, "0 0000:02:00.0 1 b"},
           {{{"CUDA_VISIBLE_DEVICES", "GPU-AA22,GPU-aa1"}}, "GPU-AA22 0000:02:00.0 1 b | GPU-aa1 0000:01:00.0 0 a"},
           {{{"CUDA_VISIBLE_DEVICES", "GPU-aa"}}, "GPU-aa - - -"},
           {{{"CUDA_VISIBLE_DEVICES", "GPU-cc"}}, "GPU-cc - - -"},
           {{{"CUDA_VISIBLE_DEVICES", "MIG-GPU-aa22/1/0"}}, "MIG-GPU-aa22/1/0 0000:02:00.0 1 b"},
           {{{"CUDA_VISIBLE_DEVICES", "MIG-aa22"}}, "MIG-aa22 - - -"},
           {{{"CUDA_VISIBLE_DEVICES", "3"}}, ""},
       }) {
    const auto gpus = FindVisibleGpus(one.environment, node);
    ASSERT_TRUE(gpus.ok());
    EXPECT_EQ(Show(ViewGpus(*gpus, node, nics, uuids, one.environment)), one.views);
  }
  const facts::Node single = NodeOf({Gpu(6, 0, {})}, {});
  EXPECT_EQ(Show(ViewGpus(VisibleGpus{.ids = {"MIG-x"}}, single, {"a"}, {}, {})), "MIG-x 0000:06:00.0 0 a");
  EXPECT_EQ(Show(ViewGpus(VisibleGpus{.ids = {"0"}}, facts::Node(), {}, {}, {})), "0 - - -");
}

TEST(NodeViewTest, ReadsUuidsOfTheDriver) {
  const std::string folder = "proc/driver/nvidia/gpus/0000:";
  hw::Capture capture;
  capture.entries[folder + "01:00.0/information"] =
      hw::CaptureFile{"Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-de94b31a\nBus Type: \t PCIe\n"};
  capture.entries[folder + "02:00.0/information"] = hw::CaptureFile{"GPU UUID: \t ????\n"};
  capture.entries[folder + "03:00.0/information"] = hw::CaptureFile{"Model: NVIDIA\n"};
  capture.entries[folder + "04:00.0/information"] = hw::CaptureFailure{"EIO"};
  const hw::CaptureTree tree(capture);
  const auto uuids = ReadGpuUuids(tree, NodeOf({Gpu(1, 0, {}), Gpu(2, 0, {}), Gpu(3, 0, {}), Gpu(4, 0, {})}, {}));
  ASSERT_EQ(uuids.size(), 1U);
  EXPECT_EQ(uuids[0].uuid, "GPU-de94b31a");
  EXPECT_EQ(uuids[0].pci, Pci(1));
}

TEST(NodeViewTest, ReadsThisMachine) {
  const auto tree = hw::DirectoryTree::Open("/");
  ASSERT_TRUE(tree.ok());
  const facts::Node node = NodeOf({Gpu(1, 0, {10})}, {Hca("a", 0, {10})});
  const auto view = ReadNodeView(**tree, node, {}, {{"CUDA_VISIBLE_DEVICES", "0"}});
  ASSERT_TRUE(view.ok()) << view.error().ToString();
  EXPECT_FALSE(view->allowed_cpus.empty());
  EXPECT_FALSE(view->numa_nodes.empty());
  EXPECT_EQ(view->gpu_variable, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(Show(view->gpus), "0 0000:01:00.0 0 a");
  EXPECT_TRUE(PlaceRanks(*view, {.bind = Bind::kGpu}, {.count = 2}).ok());
  EXPECT_THAT(ReadNodeView(**tree, node, {}, {{"CUDA_VISIBLE_DEVICES", "0,0"}}).error().ToString(),
              HasSubstr("CUDA_VISIBLE_DEVICES: names a GPU twice"));
}

// hwloc's machine, placed.
TEST(NodeViewTest, PlacesOnMadeUpMachines) {
  struct Case {
    const char* machine;
    int ranks;
    const char* cpus;
  };
  for (const Case& one : std::vector<Case>{
           {"pack:2 numa:1 core:4 pu:2", 4, "0-3 4-7 8-11 12-15 "},
           {"pack:1 numa:4 core:2 pu:1", 4, "0-1 2-3 4-5 6-7 "},
           {"pack:1 [numa] [numa] core:4 pu:1", 2, "0-1 2-3 "},
       }) {
    const auto nodes = MakeUpNumaNodes(one.machine);
    ASSERT_TRUE(nodes.ok());
    NodeView view{.numa_nodes = *nodes, .allowed_numa = {0, 1, 2, 3}};
    for (int i = 0; i < 64; ++i) view.allowed_cpus.push_back(i);
    const auto placed = PlaceRanks(view, {.bind = Bind::kNuma}, {.count = one.ranks});
    ASSERT_TRUE(placed.ok());
    std::string cpus;
    for (const Placement& rank : *placed) cpus += FormatNumbers(rank.cpus) + " ";
    EXPECT_EQ(cpus, one.cpus) << one.machine;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
