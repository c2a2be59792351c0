// SPDX-License-Identifier: Apache-2.0
#include "core/policy/select_ports.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "core/policy/choose_gid.h"
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

std::string Number(double value) {
  std::string text = std::to_string(value);  // always with a point
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Why a port cannot carry NCCL's traffic at all; empty: it can, and its GID is set on Ethernet.
std::string WhyUnusable(const facts::Node& node, PortRef* ref) {
  const facts::Hca& hca = *ref->hca;
  const facts::IbPort& port = *ref->port;
  if (port.state != PortState::kActive) return std::string("port is ") + StateName(port.state);
  if (hca.is_software) return "software device: slower than plain sockets";
  if (hca.node_type == facts::NodeType::kRnic)
    return "iWARP adapter: NCCL addresses peers by LID or GID, which it has not";
  if (!port.link_layer || *port.link_layer == LinkLayer::kOther) {
    return "link layer is neither InfiniBand nor Ethernet";
  }
  if (hca.openable == facts::Openable::kMissing) return "no /dev/infiniband node: verbs cannot open it";
  if (hca.openable == facts::Openable::kNo) return "/dev/infiniband/" + hca.uverbs.value_or("") + " may not be opened";
  if (*port.link_layer == LinkLayer::kInfiniBand) {
    if (port.lid == 0u || port.sm_lid == 0u) return "no subnet manager has set it up (lid or sm_lid is 0)";
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
  return std::to_string(group.count) + " x " + Number(group.gbps) + " Gb/s " +
         (group.layer == LinkLayer::kEthernet ? "RoCE" : "InfiniBand");
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
  Reject(&out->ports, &out->rejected, [&](const PortRef& ref) {
    const std::string why = WhyFrontEnd(node, ref);
    return why.empty() || ref.Gbps() > *fastest ? "" : why + ", and other ports are at least as fast";
  });
}

// `usable`: how many ports there were before the front end left. `any_rate`: only link layers are kept apart.
void KeepBestGroup(PortSelection* out, std::size_t usable, bool any_rate) {
  const auto groups = MakeGroups(out->ports);
  const auto best = std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::make_tuple(a.Total(), a.gbps, a.layer == LinkLayer::kInfiniBand) <
           std::make_tuple(b.Total(), b.gbps, b.layer == LinkLayer::kInfiniBand);
  });
  Reject(&out->ports, &out->rejected, [&](const PortRef& ref) -> std::string {
    if (best->Holds(ref)) return "";
    if (any_rate && *ref.port->link_layer == best->layer) return "";
    if (*ref.port->link_layer != best->layer) {
      return "link layers must not be mixed, and " + Describe(*best) + " carry more";
    }
    return Number(ref.Gbps()) + " Gb/s: not a rail beside " + Describe(*best);
  });
  out->reason = groups.size() == 1 && out->rejected.empty() ? "every port is usable: " + Describe(*best)
                : usable == 1                               ? "the only usable port: " + Describe(*best)
                                                            : "the rails: " + Describe(*best);
}

}  // namespace

std::string PortRef::Name() const { return hca->name + ":" + std::to_string(port->number); }

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
      const bool plain = port.link_layer == LinkLayer::kEthernet || port.link_layer == LinkLayer::kInfiniBand;
      const bool opens = hca.openable == facts::Openable::kYes || hca.openable == facts::Openable::kUnknown;
      if (active && plain && opens) out.has_trap = true;
      out.rejected.push_back({.what = ref.Name(), .why = std::move(why)});
    }
  }
  if (out.ports.empty()) {
    out.reason = node.hcas.empty() ? "this node has no RDMA device" : "no RDMA port here can carry NCCL's traffic";
    return out;
  }
  const std::size_t usable = out.ports.size();
  const bool listed = site.include_devices && !site.include_devices->empty();
  if (!listed) DropFrontEnd(node, &out);
  KeepBestGroup(&out, usable, listed);
  if (listed) out.reason = "the site's policy lists them: " + out.reason;
  return out;
}

}  // namespace nccl_tune::policy
