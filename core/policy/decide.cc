// SPDX-License-Identifier: Apache-2.0
#include "core/policy/decide.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace nccl_tune::policy {
namespace {

std::string PortPath(const PortRef& ref) {
  return "sys/class/infiniband/" + ref.hca->name + "/ports/" + std::to_string(ref.port->number);
}

// A name that NCCL's list grammar carries as it is: a comma or colon would split it, a blank would become part of it.
bool IsListable(const std::string& name) {
  constexpr std::size_t kLimit = 63;  // NCCL's buffer for a name has 64 bytes with the end
  return !name.empty() && name.size() <= kLimit && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != ',' && c != ':' && c != '=' && c != '^';
  });
}

Decision IbDisable(const Situation& s) {
  Decision out{.variable = "NCCL_IB_DISABLE", .value = std::nullopt, .reason = {}, .evidence = {}, .rejected = {}};
  const bool slingshot = s.bootstrap.netdev != nullptr && s.bootstrap.netdev->driver.starts_with("cxi");
  if (!s.selection.ports.empty()) {
    out.reason = "RDMA ports are usable";
  } else if (s.selection.has_trap) {
    out.value = "1";
    out.reason = "NCCL would take an RDMA port that cannot work here";
    out.rejected = s.selection.rejected;
  } else if (slingshot) {
    out.value = "1";
    out.reason = "Slingshot has no verbs devices; NCCL need not look for any";
  } else {
    out.reason =
        s.selection.needs_plugin ? "the network's own NCCL plugin decides" : "NCCL finds no RDMA port by itself either";
  }
  return out;
}

Decision IbHca(const Situation& s) {
  Decision out{.variable = "NCCL_IB_HCA",
               .value = std::nullopt,
               .reason = s.selection.reason,
               .evidence = {},
               .rejected = s.selection.rejected};
  if (s.selection.ports.empty()) {
    if (s.selection.needs_plugin)
      out.reason = "EFA devices are used through their own NCCL plugin, which reads no HCA list";
    return out;
  }
  std::string value = "=";
  for (const auto& ref : s.selection.ports) {
    if (!IsListable(ref.hca->name)) {
      out.reason = "the name of a port's device cannot stand in a list; leaving the choice to NCCL";
      out.rejected.push_back({.what = ref.Name(), .why = "a name with a comma, colon, blank or control character"});
      return out;
    }
    if (value.size() > 1) value += ',';
    value += ref.Name();
    out.evidence.push_back({PortPath(ref) + "/state", "4: ACTIVE"});
  }
  out.value = value;
  return out;
}

// The index that is right on every selected port, if there is one.
std::optional<int> CommonGidIndex(const std::vector<PortRef>& ports) {
  const int index = ports.front().gid->index;
  const bool same = std::all_of(ports.begin(), ports.end(), [&](const PortRef& r) { return r.gid->index == index; });
  return same ? std::optional(index) : std::nullopt;
}

Decision IbGidIndex(const Situation& s) {
  Decision out{.variable = "NCCL_IB_GID_INDEX", .value = std::nullopt, .reason = {}, .evidence = {}, .rejected = {}};
  const auto& ports = s.selection.ports;
  if (ports.empty() || !ports.front().IsEthernet()) {
    out.reason = ports.empty() ? "no port is selected" : "InfiniBand ports need none";
    return out;
  }
  for (const auto& ref : ports) {
    out.evidence.push_back(
        {PortPath(ref) + "/gids/" + std::to_string(ref.gid->index), ref.gid->address.ToString() + " RoCE v2"});
  }
  // Without a list of ports the index would hit every port that NCCL then takes.
  if (!std::all_of(ports.begin(), ports.end(), [](const PortRef& r) { return IsListable(r.hca->name); })) {
    out.reason = "the ports cannot be listed, and the index is right for these only";
    return out;
  }
  const auto index = CommonGidIndex(ports);
  if (!index) {
    out.reason =
        "the right index differs between the selected ports, and one number serves all; NCCL 2.21 and later choose for "
        "each port";
    return out;
  }
  out.value = std::to_string(*index);
  const auto& gid = *ports.front().gid;
  out.reason = ports.size() == 1
                   ? "RoCE v2 entry of " + gid.address.ToString() + (gid.netdev ? " on " + *gid.netdev : "")
                   : "RoCE v2 entry of each selected port's own routable address";
  for (const auto& other : ports.front().port->gids) {
    if (other.index == *index) continue;
    const bool v2 = other.version == facts::RoceVersion::kV2;
    const char* why = !other.address.IsRoutable() ? "link-local: does not leave the link"
                      : v2                        ? "not the port's first own routable address"
                                                  : "RoCE v1: not routed";
    out.rejected.push_back({.what = "index " + std::to_string(other.index), .why = why});
  }
  return out;
}

Decision SocketIfname(const Situation& s) {
  Decision out{.variable = "NCCL_SOCKET_IFNAME",
               .value = std::nullopt,
               .reason = s.bootstrap.reason,
               .evidence = s.bootstrap.evidence,
               .rejected = s.bootstrap.rejected};
  if (s.bootstrap.netdev == nullptr) return out;
  if (!IsListable(s.bootstrap.netdev->name)) {
    out.reason = "the interface's name cannot stand in a list; leaving the choice to NCCL";
    return out;
  }
  out.value = "=" + s.bootstrap.netdev->name;
  if (s.bootstrap.inferred) out.reason += " (inferred on this node)";
  return out;
}

constexpr std::array<Rule, 4> kRules = {{
    {"NCCL_IB_DISABLE", "1 only where NCCL would take a port that cannot work; else unset",
     "NCCL 2.28 net_ib: any ACTIVE port is taken", IbDisable},
    {"NCCL_IB_HCA",
     "exact list of the ports that are rails: active, openable, one link layer, one rate, not the front end",
     "NCCL 2.28 parseStringList: one leading =, name:port", IbHca},
    {"NCCL_IB_GID_INDEX",
     "RoCE: the index of the port's own routable RoCE v2 GID where it is the same on every selected port",
     "kernel gid_attrs; NCCL 2.28 uses the index as it is", IbGidIndex},
    {"NCCL_SOCKET_IFNAME", "one exact interface on which all nodes meet", "NCCL 2.28 socket: find or fail, first match",
     SocketIfname},
}};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

Situation Assess(const facts::Node& node) {
  Situation out;
  out.node = &node;
  out.selection = SelectPorts(node);
  out.bootstrap = ChooseBootstrap(node, out.selection);
  return out;
}

std::vector<Decision> Decide(const Situation& situation) {
  std::vector<Decision> out;
  for (const auto& rule : Rules()) out.push_back(rule.decide(situation));
  return out;
}

}  // namespace nccl_tune::policy
