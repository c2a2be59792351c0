// SPDX-License-Identifier: Apache-2.0
#include "hw/read_hcas.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/parse_number.h"
#include "hw/read_attribute.h"
#include "hw/sysfs_text.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

// Names that are numbers, in numeric order. Others are noted: a port or GID slot always has one.
std::vector<int> ListNumbers(const Tree& tree, const std::string& path, Notes* notes) {
  std::vector<int> out;
  const auto names = tree.List(path);
  if (!names.ok()) {
    notes->push_back({.where = path, .what = names.error().what});
    return out;
  }
  for (const auto& name : *names) {
    const auto number = base::ParseInteger<int>(name);
    if (number.ok() && *number >= 0) {
      out.push_back(*number);
    } else {
      notes->push_back({.where = path, .what = "entry \"" + base::Printable(name) + "\" is no number"});
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<facts::Gid> ReadGids(const Tree& tree, const std::string& port, bool ethernet, Notes* notes) {
  std::vector<facts::Gid> out;
  for (const int index : ListNumbers(tree, port + "/gids", notes)) {
    const std::string slot = std::to_string(index);
    const auto address = ReadParsed(tree, port + "/gids/" + slot, Absence::kNormal, facts::ParseGid, notes);
    if (!address || address->IsZero()) continue;
    facts::Gid gid{.index = index, .address = *address, .version = std::nullopt, .netdev = std::nullopt};
    if (ethernet) {
      gid.version = ReadParsed(tree, port + "/gid_attrs/types/" + slot, Absence::kNoted, ParseRoceVersion, notes);
      // Unreadable for a GID of another network namespace: normal, and it means "not ours".
      const auto netdev = tree.Read(port + "/gid_attrs/ndevs/" + slot);
      if (netdev.ok()) gid.netdev = std::string(base::Trim(*netdev));
    }
    out.push_back(std::move(gid));
  }
  return out;
}

facts::IbPort ReadPort(const Tree& tree, const std::string& path, int number, Notes* notes) {
  facts::IbPort port;
  port.number = number;
  port.state = ReadParsed(tree, path + "/state", Absence::kNoted, ParsePortState, notes);
  if (port.state != facts::PortState::kActive) return port;
  const auto layer = ReadText(tree, path + "/link_layer", Absence::kNoted, notes);
  if (layer) port.link_layer = ParseLinkLayer(*layer);
  port.rate = ReadParsed(tree, path + "/rate", Absence::kNoted, ParseRate, notes);
  if (port.link_layer == facts::LinkLayer::kInfiniBand) {  // on Ethernet a LID means nothing; some drivers report 1
    port.lid = ReadParsed(tree, path + "/lid", Absence::kNoted, ParseLid, notes);
    port.sm_lid = ReadParsed(tree, path + "/sm_lid", Absence::kNoted, ParseLid, notes);
  }
  if (port.link_layer == facts::LinkLayer::kEthernet) {
    const std::size_t before = notes->size();
    port.gids = ReadGids(tree, path, true, notes);
    port.gids_in_doubt = notes->size() != before;
  }
  return port;
}

// The function that a virtual one belongs to; absent for all others, and in a virtual machine.
void ReadPhysicalFunction(const Tree& tree, const std::string& function, facts::Hca* hca) {
  const auto link = tree.Resolve(function + "/physfn");
  hca->is_virtual_function = link.ok();
  const auto functions = link.ok() ? PciFunctionsOf(*link) : std::vector<facts::PciAddress>();
  if (!functions.empty()) hca->physical_function = functions.back();
}

// What the place of the verbs device says, or its device link where that says nothing: PCI place, driver, virtual
// function. The parts stay unknown for a software device.
void ReadDevice(const Tree& tree, const std::string& path, DeviceReader* devices, facts::Hca* hca, Notes* notes) {
  auto functions = PciFunctionsOf(path);
  const auto link = functions.empty() ? tree.Resolve(path + "/device") : path;
  if (functions.empty() && link.ok()) functions = PciFunctionsOf(*link);
  if (functions.empty()) {
    hca->is_software = !link.ok() || path.find("/virtual/") != std::string::npos;
    return;
  }
  hca->pci = functions.back();
  hca->pci_path.assign(functions.begin(), functions.end() - 1);
  // An auxiliary device (a subfunction) lies below its PCI function: climb to that.
  const std::string function = link->substr(0, link->rfind(hca->pci->ToString()) + hca->pci->ToString().size());
  const DeviceFacts& facts = devices->Read(tree, function, notes);
  hca->numa_node = facts.numa_node;
  hca->driver = facts.driver;
  // rxe names the interface that it runs on; older kernels put it below that interface's PCI function.
  hca->is_software = tree.Exists(path + "/parent");
  ReadPhysicalFunction(tree, function, hca);
}

facts::Hca ReadHca(const Tree& tree, const std::string& name, DeviceReader* devices, Notes* notes) {
  facts::Hca hca;
  hca.name = name;
  // The resolved path is walked once here instead of at each of a few hundred reads.
  const std::string link = "sys/class/infiniband/" + name;
  const auto resolved = tree.Resolve(link);
  const std::string path = resolved.ok() ? *resolved : link;
  hca.node_type = ReadParsed(tree, path + "/node_type", Absence::kNoted, ParseNodeType, notes);
  hca.board = ReadText(tree, path + "/board_id", Absence::kNormal, notes).value_or("");
  hca.image_guid = ReadText(tree, path + "/sys_image_guid", Absence::kNormal, notes).value_or("");
  ReadDevice(tree, path, devices, &hca, notes);
  for (const int number : ListNumbers(tree, path + "/ports", notes)) {
    constexpr int kLast = 255;  // verbs counts ports in one byte, from 1
    if (number < 1 || number > kLast) {
      notes->push_back(
          {.where = path + "/ports", .what = "port " + std::to_string(number) + " is none: expected 1 to 255"});
      continue;
    }
    hca.ports.push_back(ReadPort(tree, path + "/ports/" + std::to_string(number), number, notes));
  }
  return hca;
}

// Verbs device name -> uverbs node name; nothing when that cannot be told.
std::optional<std::map<std::string, std::string>> ReadVerbsNodes(const Tree& tree, Notes* notes) {
  std::map<std::string, std::string> out;
  const std::string folder = "sys/class/infiniband_verbs";
  const auto names = tree.List(folder);
  if (!names.ok()) {
    if (names.error().code == base::Code::kNotFound) return out;
    notes->push_back({.where = folder, .what = names.error().what});
    return std::nullopt;
  }
  for (const auto& name : *names) {
    if (!name.starts_with("uverbs")) continue;  // "abi_version" lies there too
    const auto device = ReadText(tree, folder + "/" + name + "/ibdev", Absence::kNoted, notes);
    if (device) out.emplace(*device, name);
  }
  return out;
}

void SetOpenable(const Tree& tree, const std::optional<std::map<std::string, std::string>>& verbs, facts::Hca* hca) {
  hca->openable = facts::Openable::kUnknown;
  if (!verbs) return;
  const auto node = verbs->find(hca->name);
  if (node != verbs->end()) {
    hca->uverbs = node->second;
    hca->openable = tree.CheckOpenable("dev/infiniband/" + node->second);
  } else if (tree.Exists("dev")) {
    hca->openable = facts::Openable::kMissing;
  }
}

}  // namespace

std::vector<facts::Hca> ReadHcas(const Tree& tree, DeviceReader* devices, Notes* notes) {
  std::vector<facts::Hca> out;
  const auto names = tree.List("sys/class/infiniband");
  if (!names.ok()) {
    if (names.error().code != base::Code::kNotFound) {
      notes->push_back({.where = "sys/class/infiniband", .what = names.error().what});
    }
    return out;
  }
  const auto verbs = ReadVerbsNodes(tree, notes);
  for (const auto& name : *names) out.push_back(ReadHca(tree, name, devices, notes));
  for (auto& hca : out) SetOpenable(tree, verbs, &hca);
  std::stable_sort(out.begin(), out.end(), [](const facts::Hca& a, const facts::Hca& b) {
    return std::make_tuple(!a.pci.has_value(), a.pci.value_or(facts::PciAddress{})) <
           std::make_tuple(!b.pci.has_value(), b.pci.value_or(facts::PciAddress{}));
  });
  return out;
}

}  // namespace nccl_tune::hw
