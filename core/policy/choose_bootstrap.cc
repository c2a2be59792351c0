// SPDX-License-Identifier: Apache-2.0
#include "core/policy/choose_bootstrap.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/policy/judge_site.h"

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

// A node with what the site leaves aside.
struct Scene {
  const facts::Node& node;
  const SitePolicy& site;

  std::string WhyUnfit(const Netdev& netdev) const {
    std::string why = policy::WhyUnfit(netdev);
    if (!why.empty()) return why;
    const auto verdict = JudgeInterface(site, netdev);
    return verdict.rejected ? verdict.rejected->why : "";
  }
  bool IsFit(const Netdev* netdev) const { return netdev != nullptr && WhyUnfit(*netdev).empty(); }
};

// Container and virtual machine bridges have the same address on every host; tunnels and wireless do not carry jobs.
bool IsLocalOnly(const Netdev& netdev) {
  return netdev.kind == NetdevKind::kBridge || netdev.kind == NetdevKind::kTunnel ||
         netdev.kind == NetdevKind::kWireless || netdev.is_usb;
}

// Of two interfaces the one with the lower address: names and the order of detection say nothing.
bool ComesFirst(const Netdev& a, const Netdev* b) {
  return b == nullptr || RoutableAddress(a)->prefix.address < RoutableAddress(*b)->prefix.address;
}

std::optional<Bootstrap> BySlingshot(const Scene& scene) {
  Bootstrap out;
  for (const auto& netdev : scene.node.netdevs) {
    if (netdev.driver.starts_with("cxi") && scene.IsFit(&netdev) && ComesFirst(netdev, out.netdev))
      out.netdev = &netdev;
  }
  if (out.netdev == nullptr) return std::nullopt;
  out.reason = "a Slingshot interface: NCCL's sockets and its plugin both run over this network";
  out.others = "not the Slingshot interface with the lowest address";
  out.evidence = {{"sys/class/net/" + out.netdev->name + "/device/driver", out.netdev->driver}};
  return out;
}

// All selected ports behind one cage: one card's slot, or the two PCIe legs that share one cable, which carry the same
// device and function in different domains. Three or more of the like are cards, each at the first place of its domain.
bool SameCage(const std::vector<PortRef>& ports) {
  constexpr std::size_t kLegs = 2;
  if (ports.size() > kLegs) return false;
  const auto& first = ports.front().hca->pci;
  return std::all_of(ports.begin(), ports.end(), [&](const PortRef& ref) {
    const auto& pci = ref.hca->pci;
    if (!pci || !first) return ports.size() == 1;
    return *pci == *first || (pci->domain != first->domain && pci->bus == first->bus && pci->device == first->device &&
                              pci->function == first->function);
  });
}

std::optional<Bootstrap> ByRail(const Scene& scene, const PortSelection& selection) {
  if (selection.ports.empty() || !selection.ports.front().IsEthernet()) return std::nullopt;
  if (!SameCage(selection.ports)) return std::nullopt;
  Bootstrap out;
  std::string rail;
  for (const PortRef& ref : selection.ports) {
    const Netdev* netdev = ref.port->netdev ? scene.node.FindNetdev(*ref.port->netdev) : nullptr;
    if (!scene.IsFit(netdev) || !ComesFirst(*netdev, out.netdev)) continue;
    out.netdev = netdev;
    rail = ref.Name();
  }
  if (out.netdev == nullptr) return std::nullopt;
  const auto& prefix = RoutableAddress(*out.netdev)->prefix;
  // A host route's prefix says nothing of who can be met there.
  if (prefix.length == (prefix.address.IsV4() ? 32 : 128)) return std::nullopt;
  out.inferred = true;
  const bool alone = selection.ports.size() == 1;
  out.reason = "the interface of " + rail +
               (alone ? ", the only selected port" : "; both selected ports share its cable") +
               ": the nodes should meet in " + prefix.Network().ToString();
  out.others = "not the interface of " + rail;
  out.evidence = {{"interface " + out.netdev->name, prefix.ToString()}};
  return out;
}

std::optional<Bootstrap> ByNodeAddress(const Scene& scene) {
  if (!scene.node.address) return std::nullopt;
  const Netdev* found = nullptr;
  for (const auto& netdev : scene.node.netdevs) {
    const bool has = std::any_of(netdev.addresses.begin(), netdev.addresses.end(),
                                 [&](const auto& a) { return a.prefix.address == *scene.node.address; });
    // A bond and its members can show one address; the bond is the interface.
    if (has && scene.IsFit(&netdev) && (found == nullptr || found->master == netdev.name)) found = &netdev;
  }
  if (found == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = found;
  out.reason = "it carries this node's address in Slurm, which every node reaches";
  out.others = "does not carry the node's address";
  out.evidence = {{"interface " + found->name, scene.node.address->ToString()}};
  return out;
}

std::optional<Bootstrap> ByDefaultRoute(const Scene& scene) {
  const facts::Route* best = nullptr;
  for (const auto& route : scene.node.routes) {
    if (route.destination || !scene.IsFit(scene.node.FindNetdev(route.interface))) continue;
    if (best == nullptr || route.metric < best->metric) best = &route;
  }
  if (best == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = scene.node.FindNetdev(best->interface);
  out.reason = "it carries the default route";
  out.others = "not the default route's";
  out.evidence = {{"default route", best->interface}};
  return out;
}

std::optional<Bootstrap> ByElimination(const Scene& scene) {
  const Netdev* only = nullptr;
  for (const auto& netdev : scene.node.netdevs) {
    if (!scene.IsFit(&netdev) || IsLocalOnly(netdev)) continue;
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

std::optional<Bootstrap> BySite(const Scene& scene) {
  const auto found = FindSiteBootstrap(scene.site, scene.node);
  if (!found || found->netdev == nullptr) return std::nullopt;
  Bootstrap out;
  out.netdev = found->netdev;
  out.reason = found->reason;
  out.others = "not named by the site's policy";
  out.evidence = {{"interface " + out.netdev->name, RoutableAddress(*out.netdev)->prefix.ToString()}};
  return out;
}

Bootstrap Decide(const Scene& scene, const PortSelection& selection) {
  if (auto found = BySite(scene)) return *std::move(found);
  if (auto found = BySlingshot(scene)) return *std::move(found);
  if (auto found = ByRail(scene, selection)) return *std::move(found);
  if (auto found = ByNodeAddress(scene)) return *std::move(found);
  if (auto found = ByDefaultRoute(scene)) return *std::move(found);
  if (auto found = ByElimination(scene)) return *std::move(found);
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

Bootstrap ChooseBootstrap(const facts::Node& node, const PortSelection& selection, const SitePolicy& site) {
  const Scene scene{.node = node, .site = site};
  Bootstrap out = Decide(scene, selection);
  const auto wished = FindSiteBootstrap(site, node);
  if (wished && wished->netdev == nullptr) out.reason += "; " + wished->reason;
  for (const auto& netdev : node.netdevs) {
    if (&netdev == out.netdev || netdev.kind == NetdevKind::kLoopback) continue;
    std::string why = scene.WhyUnfit(netdev);
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
