// SPDX-License-Identifier: Apache-2.0
#include "bench/wire_facts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "core/env/plan.h"
#include "core/nccl/hca_selection.h"
#include "core/nccl/interface_order.h"
#include "core/nccl/name_list.h"
#include "core/policy/select_ports.h"
#include "hw/read_node.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using facts::GbitPerSecond;
using facts::NetdevKind;

constexpr const char* kFromPlan = "NCCL_TUNE_PLAN";
constexpr const char* kFromNode = "this node's ports";
constexpr const char* kFromInterfaces = "this node's interfaces";

std::string Get(const Environment& environment, std::string_view name) {
  return base::Lookup(environment, name).value_or("");
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    if (end > 0) out.emplace_back(base::Trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool HasAny(std::string_view list, const std::vector<std::string_view>& words) {
  for (const auto& word : Words(list)) {
    const bool hit = std::any_of(words.begin(), words.end(), [&](auto w) { return word.starts_with(w); });
    if (hit) return true;
  }
  return false;
}

void Take(Wire* wire, Link link, const std::optional<GbitPerSecond>& rate) {
  if (rate && rate->value > 0) {
    wire->facts.rails.push_back(*rate);
  } else if (wire->facts.missing.empty()) {
    wire->facts.missing = "the line rate of " + link.ToString() + " is not known";
  }
  wire->links.push_back(std::move(link));
}

// The ports that UCX_NET_DEVICES names ("mlx5_0:1"); none: UCX chooses.
std::vector<Link> NamedForUcx(const Environment& environment) {
  std::vector<Link> out;
  for (const auto& word : Words(Get(environment, "UCX_NET_DEVICES"))) {
    const auto colon = word.find(':');
    if (colon == std::string::npos) continue;
    const auto port = base::ParseInt(std::string_view(word).substr(colon + 1));
    if (port.ok() && *port > 0) out.push_back({word.substr(0, colon), *port});
  }
  return out;
}

// Whether this run's library takes the port, by the names that the environment lists.
class Chosen {
 public:
  Chosen(const Environment& environment, BackendKind backend, nccl::NcclVersion version)
      : is_mpi_(backend == BackendKind::kMpi),
        named_(NamedForUcx(environment)),
        list_(nccl::ParseHcaList(Get(environment, "NCCL_IB_HCA"), version)) {}

  bool Takes(const std::string& name, int port) const {
    if (!is_mpi_) return list_.Matches(name, port);
    return named_.empty() || std::find(named_.begin(), named_.end(), Link{name, port}) != named_.end();
  }

 private:
  bool is_mpi_;
  std::vector<Link> named_;
  nccl::NameList list_;
};

std::optional<GbitPerSecond> RateOf(const env::PlanPort& port) {
  return port.gbps ? std::optional(GbitPerSecond{*port.gbps}) : std::nullopt;
}

void TakePlanned(const env::PlanSummary& plan, const Chosen& chosen, Wire* out) {
  for (const auto& port : plan.ports) {
    if (!chosen.Takes(port.hca, port.port)) continue;
    Take(out, {port.hca, port.port}, RateOf(port));
  }
  out->facts.source = kFromPlan;
}

const facts::IbPort* FindPort(const facts::Node& node, const std::string& name, int number) {
  for (const auto& hca : node.hcas) {
    if (hca.name != name) continue;
    for (const auto& port : hca.ports) {
      if (port.number == number) return &port;
    }
  }
  return nullptr;
}

// Elastic Fabric Adapters: NCCL reaches them by a plugin that takes all of them.
void TakeFabricAdapters(const facts::Node& node, Wire* out) {
  for (const auto& hca : node.hcas) {
    for (const auto& port : hca.ports) {
      const bool is_one = port.link_layer == facts::LinkLayer::kOther && port.state == facts::PortState::kActive;
      if (is_one) Take(out, {hca.name, port.number}, port.rate);
    }
  }
}

void TakeNamed(const facts::Node& node, const Link& link, Wire* out) {
  const auto* port = FindPort(node, link.name, link.port);
  if (port != nullptr) Take(out, link, port->rate);
}

bool IsRail(const policy::PortSelection& selection, const nccl::JudgedPort& port) {
  return std::any_of(selection.ports.begin(), selection.ports.end(), [&](const policy::PortRef& rail) {
    return rail.hca->name == port.hca && rail.port->number == port.port;
  });
}

void TakeOfNode(const facts::Node& node, const Environment& environment, BackendKind backend, nccl::NcclVersion version,
                Wire* out) {
  out->facts.source = kFromNode;
  const auto selection = policy::SelectPorts(node);
  const auto named = NamedForUcx(environment);
  if (backend == BackendKind::kNccl) {
    // NCCL opens more ports than it sends through: beside rails it leaves slower ones idle. A list means what it says.
    const bool is_listed = !Get(environment, "NCCL_IB_HCA").empty();
    const auto taken = nccl::SelectHcas(node, version, environment).Taken();
    for (const auto& port : taken) {
      if (is_listed || IsRail(selection, port)) TakeNamed(node, {port.hca, port.port}, out);
    }
    if (out->links.empty()) {
      for (const auto& port : taken) TakeNamed(node, {port.hca, port.port}, out);
    }
  } else if (!named.empty()) {
    for (const auto& link : named) TakeNamed(node, link, out);
  } else {
    for (const auto& port : selection.ports) Take(out, {port.hca->name, port.port->number}, port.port->rate);
  }
  if (out->links.empty() && selection.needs_plugin) TakeFabricAdapters(node, out);
}

// The user has told the library to leave RDMA alone.
bool IsRdmaOff(const Environment& environment, BackendKind backend) {
  if (backend == BackendKind::kNccl) {
    const std::string net = base::LowerAscii(Get(environment, "NCCL_NET"));
    const std::string off = Get(environment, "NCCL_IB_DISABLE");
    return net == "socket" || (!off.empty() && off != "0");
  }
  const std::string pml = Get(environment, "OMPI_MCA_pml");
  if (pml == "ob1" && !HasAny(Get(environment, "OMPI_MCA_btl"), {"openib"})) return true;
  const std::string tls = Get(environment, "UCX_TLS");
  if (tls.empty() || tls[0] == '^') return false;
  return !HasAny(tls, {"all", "ib", "rc", "ud", "dc", "\\rc", "\\ud", "\\dc"});
}

// The interfaces that TCP takes, by name.
std::vector<std::string> TcpInterfaces(const facts::Node& node, const Environment& environment, BackendKind backend,
                                       nccl::NcclVersion version) {
  std::vector<std::string> out;
  if (backend == BackendKind::kNccl) {
    for (const auto& taken : nccl::OrderInterfaces(node, version, environment).interfaces) {
      if (std::find(out.begin(), out.end(), taken.name) == out.end()) out.push_back(taken.name);
    }
    return out;
  }
  const char* variable = Get(environment, "OMPI_MCA_pml") == "ucx" ? "UCX_NET_DEVICES" : "OMPI_MCA_btl_tcp_if_include";
  for (const auto& word : Words(Get(environment, variable))) {
    if (node.FindNetdev(word) != nullptr) out.push_back(word);
  }
  return out;
}

// A rate that says something. The kernel gives virtual interfaces a made-up one: veth always has 10 Gbit/s.
std::optional<GbitPerSecond> RateOf(const facts::Node& node, const facts::Netdev& netdev) {
  const facts::Netdev* below = &netdev;
  for (int depth = 0; depth < 4 && below->parent; ++depth) {
    const auto* parent = node.FindNetdev(*below->parent);
    if (parent == nullptr) break;
    below = parent;
  }
  const bool is_real =
      below->kind == NetdevKind::kPhysical || below->kind == NetdevKind::kBond || below->kind == NetdevKind::kIpoib;
  return is_real && below->driver != "veth" ? below->speed : std::nullopt;
}

// The interfaces of the rails, by the plan (nullptr: there is none) or else the node, with their ports' rates: the
// kernel may not know the interface's own.
std::map<std::string, std::optional<GbitPerSecond>> RailInterfaces(const facts::Node& node,
                                                                   const env::PlanSummary* plan) {
  std::map<std::string, std::optional<GbitPerSecond>> rails;
  if (plan != nullptr) {
    for (const auto& port : plan->ports) {
      const auto* found = FindPort(node, port.hca, port.port);
      const auto netdev = port.netdev ? port.netdev : found != nullptr ? found->netdev : std::nullopt;
      if (netdev) rails.emplace(*netdev, RateOf(port));
    }
  }
  if (!rails.empty()) return rails;
  for (const auto& port : policy::SelectPorts(node).ports) {
    if (port.port->netdev) rails.emplace(*port.port->netdev, port.port->rate);
  }
  return rails;
}

std::string Beside(const std::vector<Link>& taken, const std::map<std::string, std::optional<GbitPerSecond>>& rails) {
  if (taken.empty() || rails.empty()) return "";
  if (std::ranges::any_of(taken, [&](const Link& link) { return rails.contains(link.name); })) return "";
  std::string used;
  for (const Link& link : taken) used += (used.empty() ? "" : ", ") + link.name;
  return "host memory goes over " + used + " and not over " +
         (rails.size() == 1 ? "the rail " + rails.begin()->first
                            : "any of the " + std::to_string(rails.size()) + " rails") +
         ": OMPI_MCA_btl_tcp_if_include names the interfaces, nccl-bench --per-rail measures each rail";
}

void TakeInterfaces(const facts::Node& node, const std::vector<std::string>& names,
                    const std::map<std::string, std::optional<GbitPerSecond>>& rails, Wire* out) {
  out->facts.transport = Transport::kTcp;
  out->facts.source = kFromInterfaces;
  out->facts.missing.clear();
  for (const auto& name : names) {
    const auto* netdev = node.FindNetdev(name);
    if (netdev == nullptr || netdev->kind == NetdevKind::kLoopback) continue;
    if (netdev->mtu && (!out->facts.mtu || *netdev->mtu < *out->facts.mtu)) out->facts.mtu = netdev->mtu;
    auto rate = RateOf(node, *netdev);
    if (const auto rail = rails.find(name); !rate && rail != rails.end()) rate = rail->second;
    Take(out, {name, 0}, rate);
  }
  if (out->links.empty()) out->facts.missing = "it is not known which interfaces TCP uses";
}

}  // namespace

Wire FindWire(const facts::Node& node, const Environment& environment, BackendKind backend, nccl::NcclVersion version) {
  Wire out;
  out.gpus = static_cast<std::uint64_t>(std::count_if(
      node.gpus.begin(), node.gpus.end(), [](const auto& gpu) { return gpu.vendor == facts::GpuVendor::kNvidia; }));
  const auto plan = env::ParsePlan(Get(environment, env::kPlanVariable));
  if (!IsRdmaOff(environment, backend)) {
    if (plan.ok()) TakePlanned(*plan, Chosen(environment, backend, version), &out);
    if (out.links.empty()) TakeOfNode(node, environment, backend, version, &out);
    if (!out.links.empty()) return out;
  }
  const auto rails = RailInterfaces(node, plan.ok() ? &*plan : nullptr);
  TakeInterfaces(node, TcpInterfaces(node, environment, backend, version), rails, &out);
  if (backend == BackendKind::kMpi) out.beside = Beside(out.links, rails);
  return out;
}

Wire ReadWire(const hw::Tree& tree, const hw::IpFacts& ip, const Environment& environment, BackendKind backend,
              nccl::NcclVersion version) {
  const auto node = hw::ReadNode(tree, ip, std::nullopt);
  if (node.ok()) return FindWire(*node, environment, backend, version);
  // The plan alone may do.
  Wire out = FindWire({}, environment, backend, version);
  if (out.links.empty()) out.facts.missing = "this node cannot be read: " + node.error().what;
  return out;
}

}  // namespace nccl_tune::bench
