// SPDX-License-Identifier: Apache-2.0
//
// For tests only: facts as one line of text, every one of them, so that a table compares a whole device at once.
#ifndef NCCL_TUNE_HW_TEST_SHOW_H_
#define NCCL_TUNE_HW_TEST_SHOW_H_

#include <optional>
#include <string>

#include "core/facts/node.h"
#include "core/facts/pci_address.h"

namespace nccl_tune::hw {

inline std::string Show(const std::optional<facts::PciAddress>& pci) { return pci ? pci->ToString() : "none"; }

// Everything that the reader says of a device, in one line.
inline std::string Show(const facts::Hca& hca) {
  std::string out = hca.name + " type" + (hca.node_type ? std::to_string(static_cast<int>(*hca.node_type)) : "?") +
                    " " + Show(hca.pci) + " numa" + (hca.numa_node ? std::to_string(*hca.numa_node) : "?") + " " +
                    hca.driver + " " + hca.board + " " + hca.image_guid + (hca.is_virtual_function ? " vf" : "") +
                    (hca.physical_function ? " of " + Show(hca.physical_function) : "") +
                    (hca.is_software ? " software" : "") + " below";
  for (const auto& pci : hca.pci_path) out += " " + pci.ToString();
  out += " " + hca.uverbs.value_or("-") + " open" + std::to_string(static_cast<int>(hca.openable));
  for (const auto& port : hca.ports) {
    out += " :" + std::to_string(port.number) + " state" +
           (port.state ? std::to_string(static_cast<int>(*port.state)) : "?");
    if (port.link_layer) out += " layer" + std::to_string(static_cast<int>(*port.link_layer));
    if (port.rate) out += " " + std::to_string(static_cast<int>(port.rate->value)) + "G";
    if (port.lid) out += " lid" + std::to_string(*port.lid);
    if (port.sm_lid) out += " sm" + std::to_string(*port.sm_lid);
    for (const auto& gid : port.gids) {
      out += " " + std::to_string(gid.index) + "=" + gid.address.ToString() +
             (gid.version ? (*gid.version == facts::RoceVersion::kV1 ? "v1" : "v2") : "v?") + gid.netdev.value_or("");
    }
  }
  return out;
}

inline std::string Show(const facts::Netdev& n) {
  std::string out =
      n.name + " " + std::to_string(n.ifindex) + " kind" + std::to_string(static_cast<int>(n.kind)) +
      (n.admin_up ? " up" : "") + (n.running ? " running" : "") + (n.mtu ? " mtu" + std::to_string(*n.mtu) : "") +
      (n.speed ? " " + std::to_string(static_cast<int>(n.speed->value)) + "G" : "") +
      (n.pci ? " " + n.pci->ToString() : "") + (n.numa_node ? " numa" + std::to_string(*n.numa_node) : "") +
      (n.driver.empty() ? "" : " " + n.driver) + (n.master ? " in " + *n.master : "") + (n.is_usb ? " usb" : "") +
      (n.is_usb_peer ? " peer" : "") + (n.bond_mode.empty() ? "" : " mode " + n.bond_mode) +
      (n.carrier ? *n.carrier ? " carrier" : " no-carrier" : "") + (n.parent ? " on " + *n.parent : "") +
      (n.vlan_id ? " vlan" + std::to_string(*n.vlan_id) : "") + (n.pkey ? " pkey" + std::to_string(*n.pkey) : "");
  for (const auto& member : n.members) out += " has " + member;
  for (const auto& a : n.addresses) out += " " + a.prefix.ToString() + (a.link_scope ? "link" : "");
  return out;
}

inline std::string Show(const facts::Node& node) {
  std::string out = "address " + (node.address ? node.address->ToString() : "?") + "\n";
  for (const auto& hca : node.hcas) {
    out += Show(hca) + "\n";
    for (const auto& port : hca.ports)
      out += "  " + std::to_string(port.number) + " " + port.netdev.value_or("-") + "\n";
  }
  for (const auto& netdev : node.netdevs) out += Show(netdev) + "\n";
  for (const auto& gpu : node.gpus) {
    out += "gpu " + Show(gpu.pci) + " numa" + (gpu.numa_node ? std::to_string(*gpu.numa_node) : "?");
    for (const auto& pci : gpu.pci_path) out += " " + pci.ToString();
    out += "\n";
  }
  for (const auto& route : node.routes) {
    out += "route " + (route.destination ? route.destination->ToString() : "default") + " " + route.interface + " " +
           std::to_string(route.metric) + "\n";
  }
  for (const auto& note : node.notes) out += "note " + note.where + ": " + note.what + "\n";
  return out;
}

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_TEST_SHOW_H_
