// SPDX-License-Identifier: Apache-2.0
#include "hw/read_node.h"

#include <algorithm>
#include <utility>

#include "hw/read_dcb.h"
#include "hw/read_device.h"
#include "hw/read_gpus.h"
#include "hw/read_hcas.h"
#include "hw/read_netdevs.h"

namespace nccl_tune::hw {
namespace {

// Ways to a port's own interface, best first: the GID table names it (entry 0 is the port's own), or the interfaces of
// the same PCI function that are no upper devices. A function with several of them leaves it unknown.
std::optional<std::string> FindNetdevOf(const facts::Hca& hca, const facts::IbPort& port,
                                        const std::vector<facts::Netdev>& netdevs) {
  for (const auto& gid : port.gids) {
    if (gid.netdev) return gid.netdev;
  }
  const facts::Netdev* found = nullptr;
  for (const auto& netdev : netdevs) {
    if (!hca.pci || netdev.pci != hca.pci) continue;
    if (found != nullptr) return std::nullopt;
    found = &netdev;
  }
  return found == nullptr ? std::nullopt : std::optional<std::string>(found->name);
}

}  // namespace

base::Result<facts::Node> ReadNode(const Tree& tree, const IpFacts& ip, std::optional<facts::IpAddress> node_address) {
  facts::Node node;
  node.address = node_address;
  DeviceReader devices;
  node.hcas = ReadHcas(tree, &devices, &node.notes);
  node.netdevs = ReadNetdevs(tree, ip.interfaces, &devices, &node.notes);
  if (node.hcas.empty() && node.netdevs.empty()) {
    return base::Error{.code = base::Code::kNotFound,
                       .what = "no machine here: neither network interfaces nor RDMA devices",
                       .where = "sys/class/net, sys/class/infiniband",
                       .hint = "A tree needs sys/ at its top, as this machine's root has it"};
  }
  node.gpus = ReadGpus(tree, &node.notes);
  node.routes = ip.routes;
  for (auto& hca : node.hcas) {
    for (auto& port : hca.ports) port.netdev = FindNetdevOf(hca, port, node.netdevs);
  }
  ReadDcb(tree, ip.dcb, &node);
  return node;
}

}  // namespace nccl_tune::hw
