// SPDX-License-Identifier: Apache-2.0
#include "launcher/rails.h"

#include <algorithm>

#include "core/policy/choose_gid.h"

namespace nccl_tune::launcher {
namespace {

struct Found {
  const facts::Hca* hca = nullptr;
  const facts::IbPort* port = nullptr;
};

Found FindPort(const facts::Node& node, const env::PlanPort& wanted) {
  for (const auto& hca : node.hcas) {
    if (hca.name != wanted.hca) continue;
    for (const auto& port : hca.ports) {
      if (port.number == wanted.port) return {&hca, &port};
    }
  }
  return {};
}

// The network of the interface that has the address.
std::optional<facts::IpPrefix> NetworkOf(const facts::Node& node, const facts::IpAddress& address) {
  for (const auto& netdev : node.netdevs) {
    for (const auto& one : netdev.addresses) {
      if (one.prefix.address == address) return one.prefix.Network();
    }
  }
  return std::nullopt;
}

const facts::Gid* GidInUse(const facts::Node& node, const facts::IbPort& port, std::optional<int> index) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(), [&](const auto& g) { return g.index == index; });
  if (found != port.gids.end()) return &*found;
  const auto chosen = policy::ChooseGid(node, port);
  return chosen.ok() ? *chosen : nullptr;
}

void DescribeEthernet(const facts::Node& node, const facts::IbPort& port, std::optional<int> index, Rail* rail) {
  const facts::Netdev* netdev = port.netdev ? node.FindNetdev(*port.netdev) : nullptr;
  if (netdev != nullptr) rail->mtu = netdev->mtu;
  const facts::Gid* gid = GidInUse(node, port, index);
  if (gid == nullptr) return;
  const bool v4 = gid->address.IsV4();
  rail->families.push_back(v4 ? '4' : '6');
  if (FindGid(node, port, v4 ? 6 : 4) != nullptr) rail->families.push_back(v4 ? '6' : '4');
  if (gid->version) rail->roce = gid->version == facts::RoceVersion::kV1 ? 1 : 2;
  rail->network = NetworkOf(node, gid->address);
}

void DescribeInfiniBand(const facts::IbPort& port, Rail* rail) {
  constexpr int kSubnetBits = 64;
  if (port.gids.empty()) return;
  const auto prefix = facts::MakePrefix(port.gids.front().address, kSubnetBits);
  if (prefix.ok()) rail->network = prefix->Network();
}

// Ports that a layout counts: those of cards, as a node's virtual functions come and go.
bool Counts(const facts::Hca& hca) {
  return !hca.is_software && !hca.is_virtual_function && hca.node_type == facts::NodeType::kChannelAdapter;
}

}  // namespace

const facts::Gid* FindGid(const facts::Node& node, const facts::IbPort& port, int family) {
  facts::IbPort part = port;
  std::erase_if(part.gids, [&](const facts::Gid& gid) { return gid.address.IsV4() != (family == 4); });
  const auto chosen = policy::ChooseGid(node, part);
  if (!chosen.ok()) return nullptr;
  const auto same = [&](const facts::Gid& gid) { return gid.index == (*chosen)->index; };
  const auto found = std::find_if(port.gids.begin(), port.gids.end(), same);
  return found == port.gids.end() ? nullptr : &*found;
}

std::vector<Rail> DescribeRails(const facts::Node& node, const std::vector<env::PlanPort>& ports) {
  std::vector<Rail> out;
  for (const auto& wanted : ports) {
    if (out.size() == kMostRails) break;
    Rail rail{.ethernet = wanted.link == "Ethernet", .gbps = wanted.gbps};
    const Found found = FindPort(node, wanted);
    if (found.port != nullptr && rail.ethernet) DescribeEthernet(node, *found.port, wanted.gid, &rail);
    if (found.port != nullptr && !rail.ethernet) DescribeInfiniBand(*found.port, &rail);
    out.push_back(std::move(rail));
  }
  return out;
}

std::string DescribeLayout(const facts::Node& node, const std::vector<env::PlanPort>& ports) {
  std::string out;
  for (const auto& hca : node.hcas) {
    if (!Counts(hca)) continue;
    for (const auto& port : hca.ports) {
      const bool used = std::any_of(ports.begin(), ports.end(),
                                    [&](const auto& p) { return p.hca == hca.name && p.port == port.number; });
      const bool down = port.state && port.state != facts::PortState::kActive;
      if (out.size() < kMostPlaces) out += used ? 'u' : down ? 'd' : 'o';
    }
  }
  return out;
}

std::optional<std::size_t> FindPlace(const facts::Node& node, const env::PlanPort& wanted) {
  std::size_t place = 0;
  for (const auto& hca : node.hcas) {
    if (!Counts(hca)) continue;
    for (const auto& port : hca.ports) {
      if (hca.name == wanted.hca && port.number == wanted.port) return place;
      ++place;
    }
  }
  return std::nullopt;
}

}  // namespace nccl_tune::launcher
