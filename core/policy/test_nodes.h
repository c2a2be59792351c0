// SPDX-License-Identifier: Apache-2.0
//
// For tests only: small nodes, built from parts that are right unless a test makes them wrong.
#ifndef NCCL_TUNE_CORE_POLICY_TEST_NODES_H_
#define NCCL_TUNE_CORE_POLICY_TEST_NODES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/facts/pci_address.h"
#include "core/policy/decision.h"
#include "core/policy/select_ports.h"

namespace nccl_tune::policy {

inline facts::IpAddress Address(std::string_view text) {
  return facts::ParseIpAddress(text).value_or(facts::IpAddress{});
}

inline facts::Gid MakeGid(int index, std::string_view address, std::optional<facts::RoceVersion> version,
                          std::optional<std::string> netdev) {
  return {.index = index, .address = Address(address), .version = version, .netdev = std::move(netdev)};
}

// What the kernel lists on a RoCE port with one IPv4 address: link-local v1 and v2, then the address v1 and v2. `first`
// is the index of the address's v1 entry.
inline std::vector<facts::Gid> MakeGids(const std::string& netdev, std::string_view address, int first = 2) {
  using facts::RoceVersion;
  return {MakeGid(0, "fe80::5eff:fe00:1", RoceVersion::kV1, netdev),
          MakeGid(1, "fe80::5eff:fe00:1", RoceVersion::kV2, netdev), MakeGid(first, address, RoceVersion::kV1, netdev),
          MakeGid(first + 1, address, RoceVersion::kV2, netdev)};
}

inline facts::Hca MakeHca(std::string name, std::string_view pci, facts::LinkLayer layer, double gbps) {
  facts::Hca hca;
  hca.name = std::move(name);
  hca.node_type = facts::NodeType::kChannelAdapter;
  const auto address = facts::ParsePciAddress(pci);
  if (address.ok()) hca.pci = *address;
  hca.driver = "mlx5_core";
  hca.uverbs = "uverbs0";
  hca.openable = facts::Openable::kYes;
  facts::IbPort port;
  port.number = 1;
  port.state = facts::PortState::kActive;
  port.link_layer = layer;
  port.rate = facts::GbitPerSecond{gbps};
  if (layer == facts::LinkLayer::kInfiniBand) {
    port.lid = 18;
    port.sm_lid = 1;
  }
  hca.ports = {port};
  return hca;
}

// A RoCE card behind `netdev`, which has `address`.
inline facts::Hca MakeRoce(std::string name, std::string_view pci, double gbps, const std::string& netdev,
                           std::string_view address, int first_gid = 2) {
  facts::Hca hca = MakeHca(std::move(name), pci, facts::LinkLayer::kEthernet, gbps);
  hca.ports[0].netdev = netdev;
  hca.ports[0].gids = MakeGids(netdev, address, first_gid);
  return hca;
}

inline facts::Hca MakeIb(std::string name, std::string_view pci, double gbps) {
  return MakeHca(std::move(name), pci, facts::LinkLayer::kInfiniBand, gbps);
}

// An interface that is up; without an address when `address` is empty.
inline facts::Netdev MakeNetdev(std::string name, std::string_view address, int length = 24,
                                facts::NetdevKind kind = facts::NetdevKind::kPhysical) {
  facts::Netdev out;
  out.name = std::move(name);
  out.kind = kind;
  out.admin_up = out.running = true;
  if (!address.empty()) out.addresses = {{.prefix = {.address = Address(address), .length = length}}};
  return out;
}

inline facts::Netdev MakeLoopback() { return MakeNetdev("lo", "127.0.0.1", 8, facts::NetdevKind::kLoopback); }

inline facts::Route DefaultRoute(std::string interface, std::uint32_t metric = 0) {
  return {.destination = std::nullopt, .interface = std::move(interface), .metric = metric};
}

// The server of the first scene: one RoCE port on its own network, management beside it.
inline facts::Node MakeServer() {
  facts::Node node;
  node.netdevs = {MakeLoopback(), MakeNetdev("eno1", "10.0.0.11"), MakeNetdev("ens5f1", "172.20.0.11")};
  node.hcas = {MakeRoce("mlx5_2", "0000:03:00.1", 25, "ens5f1", "172.20.0.11")};
  node.routes = {DefaultRoute("eno1")};
  node.address = Address("10.0.0.11");
  return node;
}

inline std::string Names(const PortSelection& selection) {
  std::string out;
  for (const auto& ref : selection.ports) out += (out.empty() ? "" : " ") + ref.Name();
  return out;
}

inline std::string Show(const std::vector<Rejection>& rejected) {
  std::string out;
  for (const auto& r : rejected) out += (out.empty() ? "" : " | ") + r.what + ": " + r.why;
  return out;
}

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_TEST_NODES_H_
