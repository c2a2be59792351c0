// SPDX-License-Identifier: Apache-2.0
#include "report/details_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/nccl/nccl_version.h"

namespace nccl_tune::report {
namespace {

using facts::Tristate;

constexpr facts::PciAddress kCard{.domain = 0, .bus = 3, .device = 0, .function = 0};
constexpr facts::PciAddress kGpu{.domain = 0, .bus = 4, .device = 0, .function = 0};
constexpr facts::PciAddress kBare{.domain = 0, .bus = 5, .device = 0, .function = 0};

facts::Node MakeNode() {
  facts::Node node;
  for (const char* name : {"mlx5_0", "mlx5_3"}) {
    facts::Hca hca;
    hca.name = name;
    hca.pci = kCard;
    node.hcas.push_back(hca);
  }
  facts::Gpu gpu;
  gpu.pci = kGpu;
  node.gpus = {gpu};
  return node;
}

facts::NodeDetails MakeDetails() {
  facts::NodeDetails out;
  facts::PciDetails card;
  card.pci = kCard;
  card.link = {.current = {16, 8}, .maximum = {32, 16}};
  card.iommu = facts::IommuMode::kTranslated;
  card.relaxed_ordering = Tristate::kYes;
  facts::PciDetails gpu;
  gpu.pci = kGpu;
  gpu.link = {.current = {2.5, 16}, .maximum = {32, 16}};
  facts::PciDetails bare;
  bare.pci = kBare;
  out.functions = {card, gpu, bare};
  out.ports = {{.hca = "mlx5_0", .port = 1, .physical_state = "", .host_traffic_class = 106},
               {.hca = "mlx5_3", .port = 2, .physical_state = "Polling", .host_traffic_class = std::nullopt}};
  out.bridges = {{.pci = {.domain = 0, .bus = 1, .device = 0, .function = 0}, .acs_redirect = Tristate::kUnknown},
                 {.pci = {.domain = 0, .bus = 2, .device = 0, .function = 0}, .acs_redirect = Tristate::kYes}};
  out.gpu_direct.nv_mem = true;
  out.gpu_direct.peermem_module = true;
  out.gpu_direct.nvidia_driver = "570.86.15";
  out.gpu_direct.nvidia_open_module = true;
  out.kernel = "6.1.0";
  out.has_iommu = true;
  out.rdma_shared_between_namespaces = true;
  out.locked_memory = facts::LockedMemory{.bytes = 65536};
  facts::NcclLibraries libraries;
  libraries.nccl = facts::FoundLibrary{.path = "/opt/nccl/lib/libnccl.so.2",
                                       .found_by = facts::FoundBy::kLibraryPath,
                                       .version = "2.28.9",
                                       .version_from_name = true};
  out.libraries = libraries;
  return out;
}

TEST(DetailsTextTest, OneMachine) {
  EXPECT_EQ(DetailsText(MakeNode(), MakeDetails(), 20), R"(PCI devices
  0000:03:00.0      mlx5_0, mlx5_3, PCIe 16 GT/s x8 of 32 GT/s x16, IOMMU
                    translated, relaxed ordering
  0000:04:00.0      GPU, PCIe 2.5 GT/s x16 of 32 GT/s x16 (a GPU lowers its
                    speed when idle)
More of the ports
  mlx5_0:1          traffic class 106 set for the whole host
  mlx5_3:2          Polling
Machine
  kernel            6.1.0
  NVIDIA driver     570.86.15, open kernel module
  peer memory       nv_mem, module nvidia_peermem loaded
  IOMMU             on
  ACS               peer traffic is sent up to the root complex by 0000:02:00.0
  RDMA devices      shared: every container lists all of them
  locked memory     at most 65536 bytes
  NCCL              /opt/nccl/lib/libnccl.so.2, 2.28.9 by its name, from
                    LD_LIBRARY_PATH
  network plugin    none found
)");
}

TEST(DetailsTextTest, SaysNothingOfWhatIsNotKnown) {
  EXPECT_EQ(DetailsText({}, {}, 20), "");
  EXPECT_EQ(ConfFilesText({}, 20), "");
  facts::NodeDetails bare;
  bare.functions.resize(1);
  EXPECT_EQ(DetailsText(MakeNode(), bare, 20), "");
}

TEST(DetailsTextTest, OneLineOfMany) {
  facts::NodeDetails exclusive;
  exclusive.rdma_shared_between_namespaces = false;
  facts::NodeDetails unlimited;
  unlimited.locked_memory = facts::LockedMemory{};
  facts::NodeDetails no_iommu;
  no_iommu.has_iommu = false;
  facts::NodeDetails closed;
  closed.gpu_direct.nvidia_driver = "535.1";
  closed.gpu_direct.nvidia_open_module = false;
  facts::NodeDetails no_library;
  no_library.libraries = facts::NcclLibraries{};
  no_library.libraries->net_plugin.is_disabled = true;
  facts::NodeDetails asked = no_library;
  asked.libraries->net_plugin = {.asked = "ofi\x1b", .is_disabled = false, .library = std::nullopt};
  facts::NodeDetails by_text = no_library;
  by_text.libraries->nccl = facts::FoundLibrary{
      .path = "/a", .found_by = facts::FoundBy::kLoaderCache, .version = "2.27.3", .version_from_name = false};
  facts::NodeDetails no_acs;
  no_acs.bridges = {{.pci = kCard, .acs_redirect = Tristate::kNo}};
  facts::NodeDetails unknown_acs;
  unknown_acs.bridges = {{.pci = kCard, .acs_redirect = Tristate::kNo},
                         {.pci = kGpu, .acs_redirect = Tristate::kUnknown}};
  const struct {
    facts::NodeDetails details;
    const char* line;
  } rows[] = {
      {exclusive, "RDMA devices      exclusive: a container lists its own\n"},
      {unlimited, "locked memory     unlimited\n"},
      {no_iommu, "IOMMU             none\n"},
      {closed, "NVIDIA driver     535.1, proprietary kernel module\n  peer memory       no peer memory module\n"},
      {no_library, "NCCL              not found (a program may bring its own)\n"},
      {no_library, "network plugin    off by NCCL_NET_PLUGIN=none\n"},
      {asked, "network plugin    NCCL_NET_PLUGIN=ofi\\x1b: not found\n"},
      {by_text, "NCCL              /a, 2.27.3 by its text, from the loader's cache\n"},
      {no_acs, "ACS               no bridge sends peer traffic up to the root complex\n"},
      {unknown_acs, "ACS               unknown for 1 of 2 bridges"},
  };
  for (const auto& row : rows) {
    const std::string got = DetailsText({}, row.details, 20);
    EXPECT_TRUE(got.starts_with("Machine\n")) << got;
    EXPECT_NE(got.find(row.line), std::string::npos) << got;
  }
}

TEST(ConfFilesTextTest, SettingsAndRemarks) {
  nccl::ConfFile absent;
  absent.path = "/x";
  absent.remarks = {{.line = 0, .what = "gone"}};
  const auto site =
      nccl::ParseConfFile("/etc/nccl.conf", "\nNCCL_DEBUG=INFO\nNCCL_X = 1\n", nccl::NcclVersion{2, 28, 9});
  EXPECT_EQ(ConfFilesText({absent, site}, 20), R"(NCCL's configuration files
  /x
    remark          gone
  /etc/nccl.conf
    line 2          NCCL_DEBUG=INFO
    line 3          NCCL_X = 1
    line 3          the name "NCCL_X " has blanks, which are not trimmed: it
                    sets nothing useful
)");
  const auto json = ConfFilesJson({absent, site});
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(base::GetString(json[1], "path"), "/etc/nccl.conf");
  EXPECT_EQ(base::GetString(base::GetMember(json[1], "settings")[0], "value"), "INFO");
  EXPECT_EQ(base::GetInteger(base::GetMember(json[1], "remarks")[0], "line"), 3);
}

TEST(DetailsJsonTest, HoldsEveryFact) {
  const auto json = DetailsJson(MakeDetails());
  const auto& card = base::GetMember(json, "functions")[0];
  EXPECT_EQ(base::GetString(card, "pci"), "0000:03:00.0");
  EXPECT_EQ(base::GetInteger(base::GetMember(card, "link"), "width"), 8);
  EXPECT_EQ(base::GetBool(card, "below_maximum"), true);
  EXPECT_EQ(base::GetString(card, "iommu"), "translated");
  EXPECT_EQ(base::GetString(card, "relaxed_ordering"), "yes");
  const auto& bare = base::GetMember(json, "functions")[2];
  EXPECT_TRUE(base::GetMember(base::GetMember(bare, "link"), "width").is_null());
  EXPECT_TRUE(base::GetMember(bare, "iommu").is_null());
  EXPECT_EQ(base::GetString(base::GetMember(json, "bridges")[1], "acs_redirect"), "yes");
  EXPECT_EQ(base::GetInteger(base::GetMember(json, "ports")[0], "host_traffic_class"), 106);
  EXPECT_EQ(base::GetBool(base::GetMember(json, "gpu_direct"), "nv_mem"), true);
  EXPECT_EQ(base::GetString(json, "kernel"), "6.1.0");
  EXPECT_EQ(base::GetInteger(json, "locked_memory"), 65536);
  EXPECT_EQ(base::GetString(base::GetMember(json, "nccl"), "version"), "2.28.9");
  EXPECT_TRUE(base::GetMember(base::GetMember(json, "net_plugin"), "library").is_null());
  const auto empty = DetailsJson({});
  EXPECT_TRUE(base::GetMember(empty, "kernel").is_null());
  EXPECT_TRUE(base::GetMember(empty, "locked_memory").is_null());
  EXPECT_FALSE(empty.contains("nccl")) << "not looked for";
}

}  // namespace
}  // namespace nccl_tune::report
