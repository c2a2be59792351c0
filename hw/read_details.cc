// SPDX-License-Identifier: Apache-2.0
#include "hw/read_details.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hw/pci_config.h"
#include "hw/pci_text.h"
#include "hw/read_attribute.h"
#include "hw/sysfs_text.h"

namespace nccl_tune::hw {
namespace {

using facts::PciAddress;
using Notes = std::vector<facts::Note>;
// The mode of each IOMMU group by its folder: several functions share one.
using Groups = std::map<std::string, std::optional<facts::IommuMode>>;

constexpr std::size_t kMostFunctions = 512;
constexpr std::size_t kMostBridges = 128;

std::string FolderOf(const PciAddress& pci) { return "sys/bus/pci/devices/" + pci.ToString(); }

// One half of a link: "current" or "max".
facts::PciLinkState ReadLinkState(const Tree& tree, const std::string& path, const char* which, Notes* notes) {
  const std::string prefix = path + "/" + which + "_link_";
  facts::PciLinkState out;
  out.gigatransfers =
      ReadParsed(tree, prefix + "speed", Absence::kNormal, ParseLinkSpeed, notes).value_or(std::nullopt);
  out.width = ReadParsed(tree, prefix + "width", Absence::kNormal, ParseLinkWidth, notes).value_or(std::nullopt);
  return out;
}

std::optional<facts::IommuMode> ReadIommuMode(const Tree& tree, const std::string& path, Groups* groups, Notes* notes) {
  const auto group = tree.Resolve(path + "/iommu_group");
  if (!group.ok()) return std::nullopt;
  const auto [place, is_new] = groups->try_emplace(*group);
  if (is_new) place->second = ReadParsed(tree, *group + "/type", Absence::kNormal, ParseIommuType, notes);
  return place->second;
}

facts::PciDetails ReadFunction(const Tree& tree, const PciAddress& pci, Groups* groups, Notes* notes) {
  facts::PciDetails out;
  out.pci = pci;
  const std::string path = tree.Resolve(FolderOf(pci)).value_or(FolderOf(pci));
  out.link.current = ReadLinkState(tree, path, "current", notes);
  out.link.maximum = ReadLinkState(tree, path, "max", notes);
  out.iommu = ReadIommuMode(tree, path, groups, notes);
  const auto config = tree.Read(path + "/config");  // a device that sleeps or is gone: unknown
  if (config.ok()) out.relaxed_ordering = RelaxedOrderingOf(*config);
  return out;
}

facts::BridgeDetails ReadBridge(const Tree& tree, const PciAddress& pci) {
  facts::BridgeDetails out{.pci = pci, .acs_redirect = facts::Tristate::kUnknown};
  const auto config = tree.Read(FolderOf(pci) + "/config");
  if (config.ok()) out.acs_redirect = AcsRedirectOf(*config);
  return out;
}

struct Places {
  std::set<PciAddress> functions;
  std::set<PciAddress> bridges;
};

// Below the root ports only: what meets at one of those goes through the root complex anyway.
void Add(const PciAddress& pci, const std::vector<PciAddress>& path, Places* places) {
  places->functions.insert(pci);
  for (std::size_t i = 1; i < path.size(); ++i) places->bridges.insert(path[i]);
}

Places FindPlaces(const facts::Node& node) {
  Places out;
  for (const auto& hca : node.hcas) {
    if (hca.pci) Add(*hca.pci, hca.pci_path, &out);
  }
  for (const auto& gpu : node.gpus) Add(gpu.pci, gpu.pci_path, &out);
  return out;
}

// The first `most` of them.
std::vector<PciAddress> Take(const std::set<PciAddress>& all, std::size_t most, const char* what, Notes* notes) {
  std::vector<PciAddress> out(all.begin(), all.end());
  if (out.size() <= most) return out;
  notes->push_back({.where = "sys/bus/pci/devices",
                    .what = std::to_string(all.size()) + " " + what + ": looked at the first " + std::to_string(most)});
  out.resize(most);
  return out;
}

void ReadPorts(const Tree& tree, const facts::Node& node, facts::NodeDetails* out) {
  for (const auto& hca : node.hcas) {
    const std::string path = "sys/class/infiniband/" + hca.name;
    for (const auto& port : hca.ports) {
      facts::PortDetails details;
      details.hca = hca.name;
      details.port = port.number;
      const std::string number = std::to_string(port.number);
      if (port.state != facts::PortState::kActive) {
        details.physical_state = ReadParsed(tree, path + "/ports/" + number + "/phys_state", Absence::kNormal,
                                            ParsePhysicalState, &out->notes)
                                     .value_or("");
      } else if (port.link_layer == facts::LinkLayer::kEthernet) {
        details.host_traffic_class = ReadParsed(tree, path + "/tc/" + number + "/traffic_class", Absence::kNormal,
                                                ParseTrafficClass, &out->notes)
                                         .value_or(std::nullopt);
      }
      if (!details.physical_state.empty() || details.host_traffic_class) out->ports.push_back(std::move(details));
    }
  }
}

facts::GpuDirect ReadGpuDirect(const Tree& tree, Notes* notes) {
  facts::GpuDirect out;
  const std::string peers = "sys/kernel/mm/memory_peers/";
  out.nv_mem = tree.Exists(peers + "nv_mem/version");
  out.nv_mem_nc = tree.Exists(peers + "nv_mem_nc/version");
  out.nvidia_peermem = tree.Exists(peers + "nvidia-peermem/version");
  out.peermem_module = tree.Exists("sys/module/nvidia_peermem/version");
  const auto driver = ReadParsed(tree, "proc/driver/nvidia/version", Absence::kNormal, ParseNvidiaDriver, notes);
  if (driver) {
    out.nvidia_driver = driver->version;
    out.nvidia_open_module = driver->open;
  }
  return out;
}

}  // namespace

facts::NodeDetails ReadDetails(const Tree& tree, const facts::Node& node,
                               std::optional<facts::LockedMemory> locked_memory) {
  facts::NodeDetails out;
  const Places places = FindPlaces(node);
  Groups groups;
  for (const auto& pci : Take(places.functions, kMostFunctions, "functions", &out.notes)) {
    out.functions.push_back(ReadFunction(tree, pci, &groups, &out.notes));
  }
  for (const auto& pci : Take(places.bridges, kMostBridges, "bridges", &out.notes)) {
    out.bridges.push_back(ReadBridge(tree, pci));
  }
  ReadPorts(tree, node, &out);
  out.gpu_direct = ReadGpuDirect(tree, &out.notes);
  out.kernel = ReadText(tree, "proc/sys/kernel/osrelease", Absence::kNormal, &out.notes);
  const auto units = tree.List("sys/class/iommu");
  if (units.ok()) out.has_iommu = !units->empty();
  out.rdma_shared_between_namespaces =
      ReadParsed(tree, "sys/module/ib_core/parameters/netns_mode", Absence::kNormal, ParseModuleSwitch, &out.notes);
  out.locked_memory = locked_memory;
  return out;
}

}  // namespace nccl_tune::hw
