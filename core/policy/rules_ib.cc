// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/lossless_class.h"
#include "core/policy/rules.h"
#include "core/policy/transports.h"

namespace nccl_tune::policy {
namespace {

std::string PortPath(const PortRef& ref) {
  return "sys/class/infiniband/" + ref.hca->name + "/ports/" + std::to_string(ref.port->number);
}

// Why what was computed for the selected ports is not set; empty: it may be.
std::string WhyNoPorts(const Situation& s) {
  if (s.selection.ports.empty()) return "no port is selected";
  if (!s.hca_list) return "the ports cannot be listed, and this is right for these only";
  return "";
}

const char* Version(const facts::Gid& gid) { return gid.version == facts::RoceVersion::kV1 ? " RoCE v1" : " RoCE v2"; }

std::vector<Evidence> GidEvidence(const Situation& s) {
  std::vector<Evidence> out;
  for (const auto& ref : s.selection.ports) {
    out.push_back(
        {PortPath(ref) + "/gids/" + std::to_string(ref.gid->index), ref.gid->address.ToString() + Version(*ref.gid)});
  }
  return out;
}

// A decision about the GID with what it rests on: `value` where the steering is by `means`, else its reason.
Decision Steered(const Situation& s, GidMeans means, std::optional<std::string> value) {
  if (s.steering.means == GidMeans::kNotNeeded) return LeaveUnset(s.steering.reason);
  if (const std::string why = WhyNoPorts(s); !why.empty()) return LeaveUnset(why);
  Decision out = LeaveUnset(s.steering.reason);
  out.evidence = GidEvidence(s);
  if (s.steering.means == means) out.value = std::move(value);
  return out;
}

std::string WhyNotIndex(const facts::Gid& gid) {
  if (!gid.address.IsRoutable()) return "link-local: does not leave the link";
  if (gid.version != facts::RoceVersion::kV2) return "RoCE v1: not routed";
  return "not the port's first own address";
}

const facts::Netdev* BondOf(const Situation& s, const PortRef& ref) {
  const facts::Netdev* netdev = ref.port->netdev ? s.node->FindNetdev(*ref.port->netdev) : nullptr;
  return netdev != nullptr && netdev->kind == facts::NetdevKind::kBond ? netdev : nullptr;
}

// The network of the interface that holds the GID's address; absent where its prefix cannot tell who is on the link:
// a host route or a link between two leaves that to a router.
std::optional<facts::IpPrefix> NetworkOf(const Situation& s, const PortRef& ref) {
  constexpr int kLongestV4 = 29;
  constexpr int kLongestV6 = 125;
  for (const auto& netdev : s.node->netdevs) {
    for (const auto& a : netdev.addresses) {
      if (a.prefix.address != ref.gid->address) continue;
      if (a.prefix.length > (a.prefix.address.IsV4() ? kLongestV4 : kLongestV6)) return std::nullopt;
      return a.prefix.Network();
    }
  }
  return std::nullopt;
}

bool IsOver(const facts::Route& route, const PortRef& ref) {
  return route.interface == ref.port->netdev || route.interface == ref.gid->netdev;
}

// Its own network stands among the routes: so the routes of this family could be read.
bool IsConnected(const Situation& s, const PortRef& ref, const facts::IpPrefix& network) {
  return std::any_of(s.node->routes.begin(), s.node->routes.end(),
                     [&](const facts::Route& route) { return IsOver(route, ref) && route.destination == network; });
}

// A route over a rail's interface to somewhere beyond the rail's own network.
bool LeadsBeyond(const Situation& s, const PortRef& ref, const facts::IpPrefix& network) {
  return std::any_of(s.node->routes.begin(), s.node->routes.end(), [&](const facts::Route& route) {
    if (!IsOver(route, ref)) return false;
    if (!route.destination) return true;
    return !route.destination->address.IsMulticast() && route.destination->address.IsRoutable() &&
           !network.Contains(route.destination->address);
  });
}

}  // namespace

Decision IbDisable(const Situation& s) {
  Decision out;
  if (!s.selection.ports.empty()) {
    out.reason = "RDMA ports are usable";
  } else if (s.selection.has_trap) {
    out.value = "1";
    out.reason = s.selection.has_left_out ? "NCCL would take an RDMA port that the site leaves out"
                                          : "NCCL would take an RDMA port that cannot work here";
    out.rejected = s.selection.rejected;
  } else if (s.bootstrap.netdev != nullptr && s.bootstrap.netdev->driver.starts_with("cxi")) {
    out.value = "1";
    out.reason = "Slingshot has no verbs devices; NCCL need not look for any";
    out.evidence = s.bootstrap.evidence;
  } else {
    out.reason = s.selection.needs_plugin ? "the network's own NCCL plugin decides"
                                          : "there is no RDMA port that NCCL could take by mistake";
  }
  return out;
}

Decision IbHca(const Situation& s) {
  Decision out = LeaveUnset(s.selection.reason);
  out.rejected = s.selection.rejected;
  if (s.selection.ports.empty()) {
    if (s.selection.needs_plugin)
      out.reason = "EFA devices are used through their own NCCL plugin, which reads no HCA list";
    return out;
  }
  if (!s.hca_list) {
    out.reason = "the selected ports cannot stand in a list (" + s.why_no_list + "); leaving the choice to NCCL";
    return out;
  }
  out.value = s.hca_list;
  for (const auto& ref : s.selection.ports) out.evidence.push_back({PortPath(ref) + "/state", "4: ACTIVE"});
  return out;
}

Decision IbGidIndex(const Situation& s) {
  std::optional<std::string> value;
  if (s.steering.index) value = std::to_string(*s.steering.index);
  Decision out = Steered(s, GidMeans::kIndex, value);
  if (!out.value) return out;
  const auto& ports = s.selection.ports;
  const facts::Gid& gid = *ports.front().gid;
  out.reason = ports.size() == 1 ? (Version(gid) + 1) + std::string(" entry of ") + gid.address.ToString() +
                                       (gid.netdev ? " on " + *gid.netdev : "")
                                 : (Version(gid) + 1) + std::string(" entry of each selected port's own address");
  if (!gid.address.IsRoutable()) out.reason += ", which reaches the other end of a cable only";
  if (gid.version == facts::RoceVersion::kV1) out.reason += "; there is none for RoCE v2, and v1 is not routed";
  for (const auto& other : ports.front().port->gids) {
    if (other.index != gid.index)
      out.rejected.push_back({.what = "index " + std::to_string(other.index), .why = WhyNotIndex(other)});
  }
  return out;
}

Decision IbAddressFamily(const Situation& s) {
  Decision out = Steered(s, GidMeans::kAddress, "AF_INET6");
  if (out.value && !s.steering.ipv6) {
    out.value.reset();
    out.reason = "the right GIDs are IPv4 addresses, which NCCL looks for by itself";
  } else if (s.steering.means == GidMeans::kIndex && !out.evidence.empty()) {
    out.reason = "the index settles it";
  }
  return out;
}

Decision IbAddressRange(const Situation& s) {
  std::optional<std::string> value;
  if (s.steering.range) value = s.steering.range->ToString();
  Decision out = Steered(s, GidMeans::kAddress, value);
  if (s.steering.means == GidMeans::kIndex && !out.evidence.empty()) out.reason = "the index settles it";
  return out;
}

Decision IbQueuePairs(const Situation& s) {
  if (const std::string why = WhyNoPorts(s); !why.empty()) return LeaveUnset(why);
  Decision out = LeaveUnset("the selected ports are no bonds");
  for (const auto& ref : s.selection.ports) {
    const facts::Netdev* bond = BondOf(s, ref);
    if (bond == nullptr) return out;
    out.evidence.push_back({"sys/class/net/" + bond->name + "/bonding", "a bond"});
  }
  out.value = "4";
  out.reason = "each port is a bond, and one queue pair stays on one of its members";
  return out;
}

Decision IbTrafficClass(const Situation& s) {
  LosslessClass found = FindLosslessClass(*s.node, s.selection.ports);
  Decision out = LeaveUnset(found.reason);
  out.is_usual = !found.any;
  if (out.is_usual) return out;
  if (const std::string why = WhyNoPorts(s); !why.empty()) return LeaveUnset(why);
  out.evidence = std::move(found.evidence);
  out.rejected = std::move(found.rejected);
  if (found.dscp) out.value = std::to_string(TrafficClassOf(*found.dscp));
  return out;
}

Decision IbFifoTrafficClass(const Situation& s) {
  Decision out = LeaveUnset("NCCL_IB_TC is not set");
  out.value = IbTrafficClass(s).value;
  out.is_usual = !out.value;
  if (!out.value) return out;
  out.reason =
      "NCCL 2.22 and 2.23 send clear-to-send messages outside the class otherwise; later ones follow NCCL_IB_TC";
  out.evidence = {{"NCCL_IB_TC", *out.value}};
  return out;
}

Decision CrossNic(const Situation& s) {
  if (const std::string why = WhyNoPorts(s); !why.empty()) return LeaveUnset(why);
  const auto& ports = s.selection.ports;
  if (!ports.front().IsEthernet()) return LeaveUnset("InfiniBand: whether rails reach each other cannot be read here");
  const std::size_t gpus = s.node->gpus.size();
  if (gpus < 2 || ports.size() % gpus != 0)
    return LeaveUnset("not a rail for each GPU, so a ring may have to change rails");
  std::vector<facts::IpPrefix> networks;
  Decision out;
  for (const auto& ref : ports) {
    const auto network = NetworkOf(s, ref);
    if (!network) return LeaveUnset("routers may lead from one rail to another");
    const bool shared = std::any_of(networks.begin(), networks.end(), [&](const facts::IpPrefix& other) {
      return other.Contains(network->address) || network->Contains(other.address);
    });
    if (shared) return LeaveUnset("rails share a network, so they reach each other");
    if (LeadsBeyond(s, ref, *network)) return LeaveUnset("routers may lead from one rail to another");
    if (!IsConnected(s, ref, *network)) return LeaveUnset("the rails' routes could not be read");
    networks.push_back(*network);
    out.evidence.push_back({ref.Name(), network->ToString()});
  }
  out.value = "0";
  out.reason = "every GPU has a rail, each rail is a network of its own, and no route leads from one to another";
  return out;
}

Decision Net(const Situation& s) {
  if (!s.preferences.strict) return LeaveUnset("only --nccl-tune=strict or the site's policy sets it");
  if (const std::string why = WhyNoPorts(s); !why.empty()) return LeaveUnset(why);
  const auto transports = RecognizeTransports(*s.node);
  if (!transports.empty()) return LeaveUnset(transports.front().name + " comes with a plugin of its own");
  if (!s.preferences.net_plugin.empty()) return LeaveUnset("another net plugin is there: " + s.preferences.net_plugin);
  Decision out = LeaveUnset("strict: without the ports NCCL shall fail, not go on over sockets");
  out.value = "IB";
  out.evidence = {{"NCCL_IB_HCA", *s.hca_list}};
  return out;
}

}  // namespace nccl_tune::policy
