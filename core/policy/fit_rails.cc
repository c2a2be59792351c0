// SPDX-License-Identifier: Apache-2.0
#include "core/policy/fit_rails.h"

#include <algorithm>

namespace nccl_tune::policy {
namespace {

using facts::LinkLayer;

bool SameKind(const PortRef& a, const PortRef& b) {
  return a.port->link_layer == b.port->link_layer && a.Gbps() == b.Gbps();
}

// The two PCIe legs of one cable have the same place in two domains.
bool IsOtherLeg(const PortRef& a, const PortRef& b) {
  const auto& p = a.hca->pci;
  const auto& q = b.hca->pci;
  return p && q && p->domain != q->domain && p->bus == q->bus && p->device == q->device && p->function == q->function;
}

// Ports of the rails' driver that are not active: a dead rail keeps its place in the count.
std::vector<PortRef> DeadPorts(const facts::Node& node, const std::string& driver) {
  std::vector<PortRef> out;
  for (const auto& hca : node.hcas) {
    for (const auto& port : hca.ports) {
      if (hca.driver == driver && port.state != facts::PortState::kActive) out.push_back({.hca = &hca, .port = &port});
    }
  }
  return out;
}

// Another HCA in the same slot: the other functions of one card.
template <typename Judge>
bool AnySibling(const facts::Node& node, const PortRef& ref, Judge judge) {
  return ref.hca->pci && std::any_of(node.hcas.begin(), node.hcas.end(), [&](const facts::Hca& other) {
           return &other != ref.hca && other.pci && other.pci->SameSlot(*ref.hca->pci) && judge(other);
         });
}

// An InfiniBand port without an interface whose subnet manager runs on a port of this node: a bridge inside the
// chassis, no fabric.
bool HasOwnManager(const std::vector<PortRef>& ports, const PortRef& ref) {
  if (ref.IsEthernet() || ref.port->netdev || !ref.port->sm_lid) return false;
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortRef& other) { return other.port->lid == ref.port->sm_lid; });
}

bool IsFarFromGpus(const facts::Node& node, const PortRef& ref) {
  if (!ref.hca->numa_node) return false;
  return std::none_of(node.gpus.begin(), node.gpus.end(),
                      [&](const facts::Gpu& gpu) { return !gpu.numa_node || gpu.numa_node == ref.hca->numa_node; });
}

bool IsBesideFrontEnd(const facts::Node& node, const PortRef& ref, WhyFrontEnd front_end) {
  return AnySibling(node, ref, [&](const facts::Hca& other) {
    return std::any_of(other.ports.begin(), other.ports.end(), [&](const facts::IbPort& port) {
      return port.link_layer == LinkLayer::kEthernet && !front_end(node, {.hca = &other, .port = &port}).empty();
    });
  });
}

bool HasSibling(const facts::Node& node, const PortRef& ref) {
  return AnySibling(node, ref, [](const facts::Hca&) { return true; });
}

// The reasons, if the rest then fits the GPUs; a dead port that stays may take a rail's place.
template <typename Outside>
std::vector<std::string> Try(const facts::Node& node, const std::vector<PortRef>& ports, Outside outside,
                             const char* why) {
  std::vector<std::string> out;
  std::size_t left = 0;
  for (const auto& ref : ports) {
    const bool goes = outside(ref);
    out.emplace_back(goes ? why : "");
    left += goes ? 0 : 1;
  }
  const auto dead = DeadPorts(node, ports.front().hca->driver);
  const auto stay = std::count_if(dead.begin(), dead.end(), [&](const PortRef& ref) { return !outside(ref); });
  const std::size_t places = left + static_cast<std::size_t>(stay);
  const std::size_t gpus = node.gpus.size();
  const bool fits = left > 0 && left < ports.size() && (Fits(left, gpus) || Fits(places, gpus));
  return fits ? out : std::vector<std::string>();
}

}  // namespace

bool Fits(std::size_t ports, std::size_t gpus) {
  return gpus > 0 && ports > 0 && (ports % gpus == 0 || gpus % ports == 0);
}

bool IsRailAllTheSame(const facts::Node& node, const std::vector<PortRef>& ports, const PortRef& ref) {
  const auto same = static_cast<std::size_t>(
      std::count_if(ports.begin(), ports.end(), [&](const PortRef& other) { return SameKind(ref, other); }));
  const bool leg =
      std::any_of(ports.begin(), ports.end(), [&](const PortRef& other) { return IsOtherLeg(ref, other); });
  if (same == 2 && leg) return true;
  if (same < 2) return false;
  const std::size_t gpus = node.gpus.size();
  const std::size_t places = same + DeadPorts(node, ref.hca->driver).size();
  return Fits(same, gpus) && !Fits(same - 1, gpus) && Fits(places, gpus) && !Fits(places - 1, gpus);
}

std::vector<std::string> WhyNoRail(const facts::Node& node, const std::vector<PortRef>& ports, WhyFrontEnd front_end) {
  if (node.gpus.size() < 2 || ports.size() < 2 || Fits(ports.size(), node.gpus.size())) return {};
  auto out = Try(
      node, ports, [&](const PortRef& ref) { return HasOwnManager(ports, ref); },
      "its subnet manager is a port of this node: no fabric, and the others fit the GPUs");
  if (!out.empty()) return out;
  out = Try(
      node, ports, [&](const PortRef& ref) { return IsFarFromGpus(node, ref); },
      "no GPU on its NUMA node, and the others fit the GPUs");
  if (!out.empty()) return out;
  out = Try(
      node, ports, [&](const PortRef& ref) { return IsBesideFrontEnd(node, ref, front_end); },
      "on the front end's card, and the others fit the GPUs");
  if (!out.empty()) return out;
  return Try(
      node, ports, [&](const PortRef& ref) { return HasSibling(node, ref); },
      "one of several functions of its card, and the others fit the GPUs");
}

}  // namespace nccl_tune::policy
