// SPDX-License-Identifier: Apache-2.0
#include "core/policy/choose_bootstrap.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace nccl_tune::policy {
namespace {

using facts::Netdev;
using facts::NetdevKind;

const facts::InterfaceAddress* RoutableAddress(const Netdev& netdev) {
  const auto found = std::find_if(netdev.addresses.begin(), netdev.addresses.end(),
                                  [](const auto& a) { return a.prefix.address.IsRoutable(); });
  return found == netdev.addresses.end() ? nullptr : &*found;
}

std::string WhyUnfit(const Netdev& netdev) {
  if (netdev.kind == NetdevKind::kLoopback) return "loopback";
  if (!netdev.running) return "down";
  if (RoutableAddress(netdev) == nullptr) return "no routable address";
  return "";
}

bool IsFit(const Netdev* netdev) { return netdev != nullptr && WhyUnfit(*netdev).empty(); }

// Container and virtual machine bridges have the same address on every host; tunnels and wireless do not carry jobs.
bool IsLocalOnly(const Netdev& netdev) {
  return netdev.kind == NetdevKind::kBridge || netdev.kind == NetdevKind::kTunnel ||
         netdev.kind == NetdevKind::kWireless || netdev.is_usb;
}

// Of two interfaces the one with the lower address: names and the order of detection say nothing.
bool ComesFirst(const Netdev& a, const Netdev* b) {
  return b == nullptr || RoutableAddress(a)->prefix.address < RoutableAddress(*b)->prefix.address;
}

std::optional<Bootstrap> BySlingshot(const facts::Node& node) {
  Bootstrap out;
  for (const auto& netdev : node.netdevs) {
    if (netdev.driver.starts_with("cxi") && IsFit(&netdev) && ComesFirst(netdev, out.netdev)) out.netdev = &netdev;
  }
  if (out.netdev == nullptr) return std::nullopt;
  out.reason = "a Slingshot interface: NCCL's sockets and its plugin both run over this network";
  out.others = "not the Slingshot interface with the lowest address";
  out.evidence = {{"sys/class/net/" + out.netdev->name + "/device/driver", out.netdev->driver}};
  return out;
}

// All selected ports behind one cage: one card's slot, or the two PCIe legs that share one cable, which carry the same
// device and function in different domains.
bool SameCage(const std::vector<PortRef>& ports) {
  const auto& first = ports.front().hca->pci;
  return std::all_of(ports.begin(), ports.end(), [&](const PortRef& ref) {
    const auto& pci = ref.hca->pci;
    if (!pci || !first) return ports.size() == 1;
    return *pci == *first || (pci->domain != first->domain && pci->bus == first->bus && pci->device == first->device &&
                              pci->function == first->function);
  });
}

std::optional<Bootstrap> ByRail(const facts::Node& node, const PortSelection& selection) {
  if (selection.ports.empty() || !selection.ports.front().IsEthernet()) return std::nullopt;
  if (!SameCage(selection.ports)) return std::nullopt;
  Bootstrap out;
  std::string rail;
  for (const PortRef& ref : selection.ports) {
    const Netdev* netdev = ref.port->netdev ? node.FindNetdev(*ref.port->netdev) : nullptr;
    if (!IsFit(netdev) || !ComesFirst(*netdev, out.netdev)) continue;
    out.netdev = netdev;
    rail = ref.Name();
  }
  if (out.netdev == nullptr) return std::nullopt;
  const auto& prefix = RoutableAddress(*out.netdev)->prefix;
  // A host route's prefix says nothing of who can be met there.
  if (prefix.length == (prefix.address.IsV4() ? 32 : 128)) return std::nullopt;
  out.inferred = true;
  out.reason = "the interface of " + rail + "; all selected ports share its cable, so the nodes meet in " +
               prefix.Network().ToString();
  out.others = "not the interface of " + rail;
  out.evidence = {{"interface " + out.netdev->name, prefix.ToString()}};
  return out;
}

std::optional<Bootstrap> ByNodeAddress(const facts::Node& node) {
  if (!node.address) return std::nullopt;
  const Netdev* found = nullptr;
  for (const auto& netdev : node.netdevs) {
    const bool has = std::any_of(netdev.addresses.begin(), netdev.addresses.end(),
                                 [&](const auto& a) { return a.prefix.address == *node.address; });
    // A bond and its members can show one address; the bond is the interface.
    if (has && IsFit(&netdev) && (found == nullptr || found->master == netdev.name)) found = &netdev;
  }
  if (found == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = found;
  out.reason = "it carries this node's address in Slurm, which every node reaches";
  out.others = "does not carry the node's address";
  out.evidence = {{"interface " + found->name, node.address->ToString()}};
  return out;
}

std::optional<Bootstrap> ByDefaultRoute(const facts::Node& node) {
  const facts::Route* best = nullptr;
  for (const auto& route : node.routes) {
    if (route.destination || !IsFit(node.FindNetdev(route.interface))) continue;
    if (best == nullptr || route.metric < best->metric) best = &route;
  }
  if (best == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = node.FindNetdev(best->interface);
  out.reason = "it carries the default route";
  out.others = "not the default route's";
  out.evidence = {{"default route", best->interface}};
  return out;
}

std::optional<Bootstrap> ByElimination(const facts::Node& node) {
  const Netdev* only = nullptr;
  for (const auto& netdev : node.netdevs) {
    if (!IsFit(&netdev) || IsLocalOnly(netdev)) continue;
    if (only != nullptr) return std::nullopt;
    only = &netdev;
  }
  if (only == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = only;
  out.reason = "the only interface that is up with a routable address";
  out.evidence = {{"interface " + only->name, RoutableAddress(*only)->prefix.ToString()}};
  return out;
}

Bootstrap Decide(const facts::Node& node, const PortSelection& selection) {
  if (auto found = BySlingshot(node)) return *std::move(found);
  if (auto found = ByRail(node, selection)) return *std::move(found);
  if (auto found = ByNodeAddress(node)) return *std::move(found);
  if (auto found = ByDefaultRoute(node)) return *std::move(found);
  if (auto found = ByElimination(node)) return *std::move(found);
  Bootstrap none;
  none.reason =
      "several interfaces or none could serve, and neither the node's address nor a default route tells which; "
      "the node's address would settle it (--node-addr)";
  return none;
}

}  // namespace

const facts::InterfaceAddress* Bootstrap::Address() const {
  return netdev == nullptr ? nullptr : RoutableAddress(*netdev);
}

Bootstrap ChooseBootstrap(const facts::Node& node, const PortSelection& selection) {
  Bootstrap out = Decide(node, selection);
  for (const auto& netdev : node.netdevs) {
    if (&netdev == out.netdev || netdev.kind == NetdevKind::kLoopback) continue;
    std::string why = WhyUnfit(netdev);
    if (why.empty() && IsLocalOnly(netdev)) why = "does not leave this host, or not for jobs";
    if (why.empty() && out.netdev != nullptr && netdev.master == out.netdev->name)
      why = "a member of " + out.netdev->name;
    if (why.empty()) why = out.others;
    if (why.empty()) why = "nothing tells it from the others";
    out.rejected.push_back({.what = netdev.name, .why = std::move(why)});
  }
  return out;
}

}  // namespace nccl_tune::policy
