// SPDX-License-Identifier: Apache-2.0
#include "core/policy/select_ports.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "core/facts/number_text.h"
#include "core/policy/choose_gid.h"
#include "core/policy/fit_rails.h"
#include "core/policy/judge_site.h"

namespace nccl_tune::policy {
namespace {

using facts::LinkLayer;
using facts::PortState;

const char* StateName(const std::optional<PortState>& state) {
  if (!state) return "unreadable";
  switch (*state) {
    case PortState::kDown:
      return "DOWN";
    case PortState::kInit:
      return "INIT";
    case PortState::kArmed:
      return "ARMED";
    case PortState::kActive:
      return "ACTIVE";
    case PortState::kActiveDefer:
      return "ACTIVE_DEFER";
    case PortState::kOther:
      return "unknown";
  }
  return "unknown";
}

// Why a port cannot carry NCCL's traffic at all; empty: it can, and its GID is set on Ethernet.
std::string WhyUnusable(const facts::Node& node, PortRef* ref) {
  const facts::Hca& hca = *ref->hca;
  const facts::IbPort& port = *ref->port;
  if (port.state != PortState::kActive) return std::string("port is ") + StateName(port.state);
  if (hca.is_software) return "software device: slower than plain sockets";
  if (hca.node_type == facts::NodeType::kRnic)
    return "iWARP adapter: NCCL addresses peers by LID or GID, which it has not";
  if (!port.link_layer) return "its link layer cannot be read";
  if (*port.link_layer == LinkLayer::kOther) {
    return "link layer is neither InfiniBand nor Ethernet";
  }
  if (hca.openable == facts::Openable::kMissing) return "no /dev/infiniband node: verbs cannot open it";
  if (hca.openable == facts::Openable::kNo) return "/dev/infiniband/" + hca.uverbs.value_or("") + " may not be opened";
  if (*port.link_layer == LinkLayer::kInfiniBand) {
    // sm_lid is none of NCCL's business: an active port was set up by some manager, whether it answers now or not.
    if (port.lid == 0u) return "no subnet manager has set it up (lid is 0)";
    return "";
  }
  const auto gid = ChooseGid(node, port);
  if (!gid.ok()) return gid.error().what;
  ref->gid = *gid;
  return "";
}

// The interface carries the node's address or the default route: the front end, when there is a choice.
std::string WhyFrontEnd(const facts::Node& node, const PortRef& ref) {
  if (!ref.IsEthernet() || !ref.port->netdev) return "";
  const std::string& name = *ref.port->netdev;
  const facts::Netdev* netdev = node.FindNetdev(name);
  if (node.address && netdev != nullptr) {
    for (const auto& a : netdev->addresses) {
      if (a.prefix.address == *node.address) return name + " carries the node's own address";
    }
  }
  for (const auto& route : node.routes) {
    if (!route.destination && route.interface == name) return name + " carries the default route";
  }
  return "";
}

// Ports of one link layer and one rate: what a vendor builds rails of.
struct Group {
  LinkLayer layer;
  double gbps;
  std::size_t count = 0;

  double Total() const { return gbps * static_cast<double>(count); }
  bool Holds(const PortRef& ref) const { return *ref.port->link_layer == layer && ref.Gbps() == gbps; }
};

std::vector<Group> MakeGroups(const std::vector<PortRef>& ports) {
  std::vector<Group> out;
  for (const auto& ref : ports) {
    auto found = std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.Holds(ref); });
    if (found == out.end()) found = out.insert(out.end(), {*ref.port->link_layer, ref.Gbps(), 0});
    ++found->count;
  }
  return out;
}

std::string Describe(const Group& group) {
  return std::to_string(group.count) + " x " + (group.gbps > 0 ? facts::NumberText(group.gbps) + " Gb/s " : "") +
         (group.layer == LinkLayer::kEthernet ? "RoCE" : "InfiniBand") + (group.gbps > 0 ? "" : " of unknown rate");
}

// Moves what `why` gives a reason for from `ports` to `rejected`.
template <typename Why>
void Reject(std::vector<PortRef>* ports, std::vector<Rejection>* rejected, Why why) {
  std::vector<PortRef> kept;
  for (const auto& ref : *ports) {
    std::string reason = why(ref);
    if (reason.empty())
      kept.push_back(ref);
    else
      rejected->push_back({.what = ref.Name(), .why = std::move(reason)});
  }
  *ports = std::move(kept);
}

// The front end leaves only when rails remain that are at least as fast.
void DropFrontEnd(const facts::Node& node, PortSelection* out) {
  std::optional<double> fastest;  // among the others
  for (const auto& ref : out->ports) {
    if (WhyFrontEnd(node, ref).empty()) fastest = std::max(fastest.value_or(0), ref.Gbps());
  }
  if (!fastest) return;
  const std::vector<PortRef> all = out->ports;
  Reject(&out->ports, &out->rejected, [&](const PortRef& ref) -> std::string {
    const std::string why = WhyFrontEnd(node, ref);
    if (!why.empty() && IsRailAllTheSame(node, all, ref)) return "";
    return why.empty() || ref.Gbps() > *fastest ? "" : why + ", and other ports are at least as fast";
  });
}

// `usable`: how many ports there were before the front end left. `any_rate`: only link layers are kept apart.
void KeepBestGroup(const facts::Node& node, PortSelection* out, std::size_t usable, bool any_rate) {
  const auto groups = MakeGroups(out->ports);
  const auto best = std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::make_tuple(a.Total(), a.gbps, a.layer == LinkLayer::kInfiniBand) <
           std::make_tuple(b.Total(), b.gbps, b.layer == LinkLayer::kInfiniBand);
  });
  // One rail that has trained down: without it the rails of this node would pair off with other ones elsewhere.
  const std::size_t gpus = node.gpus.size();
  const auto of_layer = std::count_if(out->ports.begin(), out->ports.end(),
                                      [&](const PortRef& ref) { return *ref.port->link_layer == best->layer; });
  any_rate = any_rate || (gpus > 2 && static_cast<std::size_t>(of_layer) == gpus && best->count + 1 == gpus);
  Reject(&out->ports, &out->rejected, [&](const PortRef& ref) -> std::string {
    if (best->Holds(ref)) return "";
    if (any_rate && *ref.port->link_layer == best->layer) return "";
    if (*ref.port->link_layer != best->layer) {
      return "link layers must not be mixed, and " + Describe(*best) + " carry more";
    }
    return (ref.port->rate ? facts::NumberText(ref.Gbps()) + " Gb/s" : "unknown rate") + ": not a rail beside " +
           Describe(*best);
  });
  out->reason = groups.size() == 1 && out->rejected.empty() ? "every port is usable: " + Describe(*best)
                : usable == 1                               ? "the only usable port: " + Describe(*best)
                                                            : "the rails: " + Describe(*best);
}

// 169.254/16 is the address of a cable between two; where a network is there, that is the fabric.
void KeepRoutable(PortSelection* out) {
  const auto routable = [](const PortRef& ref) { return ref.gid == nullptr || ref.gid->address.IsRoutable(); };
  if (std::none_of(out->ports.begin(), out->ports.end(), routable)) return;
  Reject(&out->ports, &out->rejected, [&](const PortRef& ref) -> std::string {
    return routable(ref) ? "" : "it has a 169.254 address only, and other ports have routable ones";
  });
}

void FitGpus(const facts::Node& node, PortSelection* out) {
  const auto why = WhyNoRail(node, out->ports, &WhyFrontEnd);
  if (why.empty()) return;
  std::size_t at = 0;
  Reject(&out->ports, &out->rejected, [&](const PortRef&) { return why[at++]; });
  const auto groups = MakeGroups(out->ports);
  out->reason = "the rails that fit " + std::to_string(node.gpus.size()) + " GPUs: " + Describe(groups.front());
}

}  // namespace

PortSelection SelectPorts(const facts::Node& node, const SitePolicy& site) {
  PortSelection out;
  for (const auto& hca : node.hcas) {
    for (const auto& port : hca.ports) {
      PortRef ref{.hca = &hca, .port = &port};
      const bool active = port.state == PortState::kActive;
      if (hca.driver == "efa" && active) out.needs_plugin = true;
      std::string why = WhyUnusable(node, &ref);
      const SiteVerdict verdict = JudgeDevice(site, hca, port, node);
      const bool left_out = why.empty() && verdict.rejected;
      if (left_out) why = verdict.rejected->why;
      out.has_left_out = out.has_left_out || left_out;
      if (why.empty()) {
        out.ports.push_back(ref);
        continue;
      }
      // Only what is known not to work is a reason to turn the transport off.
      const bool known = !port.gids_in_doubt || left_out;
      const bool plain = port.link_layer == LinkLayer::kEthernet || port.link_layer == LinkLayer::kInfiniBand;
      const bool opens = hca.openable == facts::Openable::kYes || hca.openable == facts::Openable::kUnknown;
      if (active && plain && opens && known) out.has_trap = true;
      out.rejected.push_back({.what = ref.Name(), .why = std::move(why)});
    }
  }
  if (out.ports.empty()) {
    out.reason = node.hcas.empty() ? "this node has no RDMA device" : "no RDMA port here can carry NCCL's traffic";
    return out;
  }
  const std::size_t usable = out.ports.size();
  const bool listed = site.include_devices && !site.include_devices->empty();
  KeepRoutable(&out);
  if (!listed) DropFrontEnd(node, &out);
  KeepBestGroup(node, &out, usable, listed);
  if (!listed) FitGpus(node, &out);
  if (listed) out.reason = "the site's policy lists them: " + out.reason;
  return out;
}

}  // namespace nccl_tune::policy
