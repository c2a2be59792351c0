// SPDX-License-Identifier: Apache-2.0
#include "core/policy/judge_site.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/policy/glob.h"

namespace nccl_tune::policy {
namespace {

using Addresses = std::vector<facts::IpAddress>;

Addresses AddressesOf(const facts::Netdev& netdev) {
  Addresses out;
  for (const auto& address : netdev.addresses) out.push_back(address.prefix.address);
  return out;
}

// Those of the port's own interface: a VLAN above it may well lie in the storage network.
Addresses AddressesOf(const facts::IbPort& port, const facts::Node& node) {
  Addresses out;
  if (port.netdev) {
    if (const facts::Netdev* netdev = node.FindNetdev(*port.netdev)) out = AddressesOf(*netdev);
  }
  for (const facts::Gid& gid : port.gids) {
    if (!gid.netdev || gid.netdev == port.netdev) out.push_back(gid.address);
  }
  return out;
}

const facts::IpAddress* FindIn(const facts::IpPrefix& subnet, const Addresses& addresses) {
  const auto found = std::find_if(addresses.begin(), addresses.end(),
                                  [&](const facts::IpAddress& address) { return subnet.Contains(address); });
  return found == addresses.end() ? nullptr : &*found;
}

bool MatchesName(const std::string& glob, const facts::Hca& hca, const facts::IbPort& port) {
  const bool with_port = glob.find(':') != std::string::npos;
  return MatchesGlob(glob, with_port ? hca.name + ":" + std::to_string(port.number) : hca.name);
}

bool Matches(const DeviceMatcher& matcher, const facts::Hca& hca, const facts::IbPort& port,
             const Addresses& addresses) {
  if (matcher.name && !MatchesName(*matcher.name, hca, port)) return false;
  if (matcher.pci && !(hca.pci && matcher.pci->Matches(*hca.pci))) return false;
  if (matcher.driver && *matcher.driver != hca.driver) return false;
  if (matcher.rate && port.rate != matcher.rate) return false;
  if (matcher.min_rate && !(port.rate && *port.rate >= *matcher.min_rate)) return false;
  return !matcher.subnet || FindIn(*matcher.subnet, addresses) != nullptr;
}

bool Matches(const InterfaceMatcher& matcher, const facts::Netdev& netdev, const Addresses& addresses) {
  if (matcher.name && !MatchesGlob(*matcher.name, netdev.name)) return false;
  return !matcher.subnet || FindIn(*matcher.subnet, addresses) != nullptr;
}

template <typename Matcher>
std::string Reason(const Matcher& matcher, const Addresses& addresses) {
  std::string out = matcher.origin.ToString();
  if (matcher.subnet) {
    if (const auto* address = FindIn(*matcher.subnet, addresses)) {
      out += " (" + address->ToString() + " lies in " + matcher.subnet->ToString() + ")";
    }
  }
  return out;
}

std::string CountedEntries(std::size_t count) { return count == 1 ? "the entry" : "any entry"; }

// `matches` tells whether an entry of either list matches.
template <typename Matcher, typename Matching>
SiteVerdict Judge(const std::optional<std::vector<Matcher>>& exclude,
                  const std::optional<std::vector<Matcher>>& include, const std::string& what,
                  const Addresses& addresses, Matching matches) {
  SiteVerdict out;
  if (exclude) {
    const auto found = std::find_if(exclude->begin(), exclude->end(), matches);
    if (found != exclude->end()) {
      out.rejected = Rejection{.what = what, .why = "left out by the " + Reason(*found, addresses)};
      return out;
    }
  }
  if (!include || include->empty()) return out;
  const auto found = std::find_if(include->begin(), include->end(), matches);
  if (found == include->end()) {
    // The origin of an entry is that of the list with a number.
    const Origin& first = include->front().origin;
    const std::string list = first.key.substr(0, first.key.rfind('['));
    out.rejected = Rejection{.what = what,
                             .why = "does not match " + CountedEntries(include->size()) + " of the " +
                                    Origin{.key = list, .line = first.line}.ToString()};
    return out;
  }
  out.included = true;
  out.why = "named by the " + Reason(*found, addresses);
  return out;
}

const facts::IpAddress* FirstRoutable(const Addresses& addresses) {
  const auto found = std::find_if(addresses.begin(), addresses.end(),
                                  [](const facts::IpAddress& address) { return address.IsRoutable(); });
  return found == addresses.end() ? nullptr : &*found;
}

SiteBootstrap FindByName(const facts::Node& node, const std::string& name, const std::string& origin) {
  const facts::Netdev* netdev = node.FindNetdev(name);
  if (netdev == nullptr) return {.reason = origin + " names " + name + ", which this node does not have"};
  if (!netdev->running) return {.reason = origin + " names " + name + ", which is down"};
  if (FirstRoutable(AddressesOf(*netdev)) == nullptr) {
    return {.reason = origin + " names " + name + ", which has no routable address"};
  }
  return {.netdev = netdev, .reason = "named by the " + origin};
}

SiteBootstrap FindBySubnet(const SitePolicy& policy, const facts::Node& node, const facts::IpPrefix& subnet,
                           const std::string& origin) {
  for (const facts::Netdev& netdev : node.netdevs) {
    if (!netdev.running || JudgeInterface(policy, netdev).rejected) continue;
    const Addresses addresses = AddressesOf(netdev);
    const auto* address = FindIn(subnet, addresses);
    if (address == nullptr || !address->IsRoutable()) continue;
    return {
        .netdev = &netdev,
        .reason = "its address " + address->ToString() + " lies in " + subnet.ToString() + ", named by the " + origin};
  }
  return {.reason = origin + " names " + subnet.ToString() + ", in which no interface that may be used has an address"};
}

}  // namespace

SiteVerdict JudgeDevice(const SitePolicy& policy, const facts::Hca& hca, const facts::IbPort& port,
                        const facts::Node& node) {
  if (!policy.exclude_devices && !policy.include_devices) return {};
  const Addresses addresses = AddressesOf(port, node);
  return Judge(policy.exclude_devices, policy.include_devices, hca.name + ":" + std::to_string(port.number), addresses,
               [&](const DeviceMatcher& matcher) { return Matches(matcher, hca, port, addresses); });
}

SiteVerdict JudgeInterface(const SitePolicy& policy, const facts::Netdev& netdev) {
  if (netdev.kind == facts::NetdevKind::kLoopback) return {};
  const Addresses addresses = AddressesOf(netdev);
  return Judge(policy.exclude_interfaces, policy.include_interfaces, netdev.name, addresses,
               [&](const InterfaceMatcher& matcher) { return Matches(matcher, netdev, addresses); });
}

std::optional<SiteBootstrap> FindSiteBootstrap(const SitePolicy& policy, const facts::Node& node) {
  if (!policy.bootstrap) return std::nullopt;
  const std::string origin = policy.bootstrap->origin.ToString();
  if (const auto* name = std::get_if<std::string>(&policy.bootstrap->value)) return FindByName(node, *name, origin);
  return FindBySubnet(policy, node, std::get<facts::IpPrefix>(policy.bootstrap->value), origin);
}

}  // namespace nccl_tune::policy
