// SPDX-License-Identifier: Apache-2.0
#include "core/env/contradictions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/result.h"
#include "core/nccl/check_value.h"
#include "core/nccl/gid_ranking.h"
#include "core/nccl/hca_selection.h"
#include "core/nccl/interface_order.h"
#include "core/nccl/name_list.h"
#include "core/nccl/nccl_integer.h"
#include "core/nccl/settable.h"
#include "core/nccl/variables.h"
#include "core/policy/decide.h"
#include "core/policy/lossless_class.h"
#include "core/policy/port_ref.h"

namespace nccl_tune::env {
namespace {

using base::Environment;

struct Finding {
  std::string what;
  std::string hint{};
  bool is_harmless = false;
};
using Findings = std::vector<Finding>;

// What one variable may have wrong before the rest is a number, and how many unknown names are compared with all that
// are known: an environment may hold thousands.
constexpr std::size_t kMostFindings = 8;
constexpr std::size_t kMostUnknown = 64;

struct Scene {
  const facts::Node& node;
  const Environment& all;
  nccl::NcclVersion version;
  nccl::HcaSelection selection;  // NCCL's own, with `all`
};

std::string PortName(const facts::Hca& hca, const facts::IbPort& port) {
  return hca.name + ":" + std::to_string(port.number);
}

// The first few of many names.
std::string Some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShown ? out + " and " + std::to_string(names.size() - kShown) + " more" : out;
}

// Calls `use` for each port with the verdict of NCCL's own selection.
template <typename Use>
void ForEachPort(const Scene& scene, Use use) {
  std::size_t at = 0;
  for (const auto& hca : scene.node.hcas) {
    for (const auto& port : hca.ports) use(hca, port, scene.selection.ports[at++].verdict);
  }
}

// The device of an interface that was named by mistake, or the devices that there are.
std::string Instead(const facts::Node& node, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& hca : node.hcas) {
    names.push_back(base::Printable(hca.name));
    const bool below = std::any_of(hca.ports.begin(), hca.ports.end(), [&](const auto& p) { return p.netdev == name; });
    if (below) return "That is an interface; its device is " + base::Printable(hca.name) + ".";
  }
  return names.empty() ? "" : "There is " + Some(names) + ".";
}

Findings JudgeHcaEntry(const Scene& scene, const nccl::NameListEntry& entry, bool exact) {
  nccl::NameList alone;
  alone.exact = exact;
  alone.entries = {entry};
  bool any = false;
  Findings out;
  ForEachPort(scene, [&](const facts::Hca& hca, const facts::IbPort& port, nccl::PortVerdict verdict) {
    if (!alone.Matches(hca.name, port.number)) return;
    any = true;
    if (hca.name != entry.name) return;  // not meant
    const bool unusable = verdict == nccl::PortVerdict::kNotActive || verdict == nccl::PortVerdict::kCannotOpen ||
                          verdict == nccl::PortVerdict::kOtherLinkLayer;
    if (unusable)
      out.push_back({PortName(hca, port) + ": " + std::string(nccl::Explain(verdict)) + ", so NCCL skips it"});
  });
  const bool named = std::any_of(scene.node.hcas.begin(), scene.node.hcas.end(),
                                 [&](const facts::Hca& hca) { return hca.name == entry.name; });
  if (!any && named) return {{entry.name + " has no port " + std::to_string(entry.port), "Ports count from 1."}};
  if (!any) return {{"there is no " + base::Printable(entry.name) + " on this node", Instead(scene.node, entry.name)}};
  return out;
}

Findings JudgeHcas(const Scene& scene, std::string_view value) {
  const bool efa =
      std::any_of(scene.node.hcas.begin(), scene.node.hcas.end(), [](const auto& h) { return h.driver == "efa"; });
  if (efa) return {{"EFA devices are used through their own plugin, which does not read it"}};
  const auto list = nccl::ParseHcaList(value, scene.version);
  Findings out;
  if (!list.exclude) {
    for (const auto& entry : list.entries) {
      auto found = JudgeHcaEntry(scene, entry, list.exact);
      std::move(found.begin(), found.end(), std::back_inserter(out));
    }
  }
  std::vector<std::string> more;  // taken, but only begins as an entry does
  bool any = false;
  ForEachPort(scene, [&](const facts::Hca& hca, const facts::IbPort& port, nccl::PortVerdict verdict) {
    if (verdict != nccl::PortVerdict::kTaken) return;
    any = true;
    const bool named = std::any_of(list.entries.begin(), list.entries.end(),
                                   [&](const auto& entry) { return entry.name == hca.name; });
    const bool prefix = !list.exclude && !list.exact && !list.entries.empty();
    if (prefix && !named) more.push_back(PortName(hca, port));
  });
  const bool named_one = std::any_of(list.entries.begin(), list.entries.end(), [&](const auto& entry) {
    return std::any_of(scene.node.hcas.begin(), scene.node.hcas.end(),
                       [&](const auto& h) { return h.name == entry.name; });
  });
  // "mlx5" alone is meant to take all; beside a device of just this name the others are an accident.
  if (!more.empty() && named_one) {
    out.push_back({"without = names match by their beginning, so it also takes " + Some(more), "Put one = in front."});
  }
  const bool off = !scene.selection.transport_off.empty();
  if (!any && !off) out.push_back({"it leaves NCCL no port, and NCCL goes on over sockets without a word"});
  return out;
}

const char* WhyBadGid(const std::optional<facts::Gid>& gid) {
  if (!gid) return "is empty";
  if (!gid->address.IsRoutable()) return "is link-local and does not leave the link";
  if (gid->version == facts::RoceVersion::kV1) return "is for RoCE v1, which is not routed";
  return nullptr;
}

// What NCCL ends at on each RoCE port that it takes. `name`: the variable that brings it there.
Findings JudgeGids(const Scene& scene, const std::string& name) {
  Findings out;
  bool infiniband = false;
  bool ethernet = false;
  ForEachPort(scene, [&](const facts::Hca& hca, const facts::IbPort& port, nccl::PortVerdict verdict) {
    if (verdict != nccl::PortVerdict::kTaken) return;
    if (port.link_layer != facts::LinkLayer::kEthernet) {
      infiniband = true;
      return;
    }
    ethernet = true;
    const auto choice = nccl::ChooseGid(port, scene.version, scene.all);
    if (!choice.index) {
      out.push_back({PortName(hca, port) + ": " + choice.reason});
      return;
    }
    const char* why = WhyBadGid(choice.gid);
    if (why == nullptr) return;
    out.push_back({"GID " + std::to_string(*choice.index) + " of " + PortName(hca, port) + " " + why,
                   "Unset " + name + ": nccl-tune finds the right entry of each node."});
  });
  if (infiniband && !ethernet) {
    out.push_back(
        {.what = "InfiniBand ports need no such choice, and newer NCCL ignores it there", .is_harmless = true});
  }
  return out;
}

std::string InterfacesThere(const Scene& scene) {
  std::vector<std::string> names;
  for (const auto& netdev : scene.node.netdevs) {
    if (netdev.running && !netdev.addresses.empty() && netdev.kind != facts::NetdevKind::kLoopback)
      names.push_back(base::Printable(netdev.name));
  }
  return names.empty() ? "" : "Up with an address: " + Some(names) + ".";
}

Findings JudgeInterfaces(const Scene& scene) {
  const auto order = nccl::OrderInterfaces(scene.node, scene.version, scene.all);
  if (order.step == nccl::InterfaceStep::kNone)
    return {{"no interface that is up with an address fits, and NCCL's init fails: " + order.reason,
             InterfacesThere(scene)}};
  if (order.interfaces.empty()) return {};
  const auto& first = order.interfaces.front();
  if (first.address.IsLoopback())
    return {{"NCCL takes " + first.name + " first, over which no other node is reached",
             "Name one interface with = in front."}};
  if (!first.address.IsRoutable())
    return {{first.name + " has " + first.address.ToString() + " only, which does not leave the link"}};
  return {};
}

Findings JudgePlainInterfaces(const Scene& scene, std::string_view value) {
  Findings out;
  for (const auto& name : policy::SplitNames(value)) {
    const facts::Netdev* netdev = scene.node.FindNetdev(name);
    if (netdev == nullptr)
      out.push_back({"there is no interface " + base::Printable(name) + " on this node, and the process fails"});
    else if (!netdev->running || netdev->addresses.empty())
      out.push_back({name + (netdev->running ? " has no address" : " is down")});
  }
  return out;
}

// Any other name may be that of a plugin; these are no plugin's, and are taken for one of NCCL's own two.
Findings JudgeNet(const Scene& scene, std::string_view value) {
  const std::string fails = "NCCL has no transport of that name, and its init fails";
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](auto name) { return base::EqualsIgnoringCase(value, name); });
  };
  if (is({"IB", "Socket"})) return {};
  if (is({"tcp", "sockets", "sock", "ip", "eth", "ethernet"})) return {{fails, "Write Socket."}};
  if (is({"infiniband", "ibverbs", "verbs", "rdma", "roce", "ipoib", "openib"})) return {{fails, "Write IB."}};
  const bool device =
      std::any_of(scene.node.hcas.begin(), scene.node.hcas.end(), [&](const auto& hca) { return hca.name == value; });
  if (device) return {{fails, "That is a device, which NCCL_IB_HCA takes."}};
  if (scene.node.FindNetdev(std::string(value)) != nullptr)
    return {{fails, "That is an interface, which NCCL_SOCKET_IFNAME takes."}};
  return {};
}

// Names with "[" or "*" are patterns of newer UCX.
Findings JudgeUcxDevices(const Scene& scene, std::string_view value) {
  Findings out;
  for (const auto& name : policy::SplitNames(value)) {
    if (value.starts_with('^') || name == "all" || name.find_first_of("[*") != std::string::npos) continue;
    if (scene.node.FindNetdev(name) != nullptr) continue;
    std::string first;  // port of the device that is named without one
    bool found = false;
    ForEachPort(scene, [&](const facts::Hca& hca, const facts::IbPort& port, nccl::PortVerdict) {
      found = found || PortName(hca, port) == name;
      if (hca.name == name && first.empty()) first = PortName(hca, port);
    });
    if (found) continue;
    if (!first.empty())
      out.push_back({base::Printable(name) + " has no port, and UCX does not find it", "Write " + first + "."});
    else
      out.push_back({"there is no device or interface " + base::Printable(name) + " on this node", ""});
  }
  return out;
}

// Names of interfaces, or networks.
Findings JudgeMpiInterfaces(const Scene& scene, std::string_view value) {
  Findings out;
  for (const auto& name : policy::SplitNames(value)) {
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
      const facts::Netdev* netdev = scene.node.FindNetdev(name);
      if (netdev == nullptr)
        out.push_back({"there is no interface " + base::Printable(name) + " on this node", InterfacesThere(scene)});
      else if (!netdev->running || netdev->addresses.empty())
        out.push_back({name + (netdev->running ? " has no address" : " is down")});
      continue;
    }
    const auto network = facts::ParseIpPrefix(name);
    if (!network.ok()) {
      out.push_back({base::Printable(name) + " is no network", "Write one such as 10.1.0.0/16."});
      continue;
    }
    const bool held = std::any_of(scene.node.netdevs.begin(), scene.node.netdevs.end(), [&](const auto& netdev) {
      return std::any_of(netdev.addresses.begin(), netdev.addresses.end(),
                         [&](const auto& a) { return network->Contains(a.prefix.address); });
    });
    if (!held) out.push_back({"no interface of this node has an address in " + name, InterfacesThere(scene)});
  }
  return out;
}

// What the hosts' own interfaces say of a class; nothing where they say nothing.
Findings JudgeTrafficClass(const Scene& scene, std::string_view value) {
  const auto number = nccl::ReadNcclInteger(value).value.value_or(-1);
  if (number < 0) return {};
  std::vector<policy::PortRef> ports;
  Findings out;
  ForEachPort(scene, [&](const facts::Hca& hca, const facts::IbPort& port, nccl::PortVerdict verdict) {
    if (verdict != nccl::PortVerdict::kTaken || port.link_layer != facts::LinkLayer::kEthernet) return;
    ports.push_back({.hca = &hca, .port = &port});
    const auto& host = port.host_traffic_class;
    if (host && !host->empty() && *host != std::to_string(number))
      out.push_back({PortName(hca, port) + ": the host sets class " + *host + " there, which overrides it"});
  });
  constexpr int kEcnBits = 2;
  const auto why = policy::WhyNotLossless(scene.node, ports, static_cast<int>(number >> kEcnBits));
  if (!why.empty()) {
    const auto right = policy::FindLosslessClass(scene.node, ports).dscp;
    out.push_back({why, right ? "Write " + std::to_string(policy::TrafficClassOf(*right)) + "." : ""});
  }
  return out;
}

Findings JudgeOnNode(const Scene& scene, const std::string& name, const std::string& value) {
  if (name == "NCCL_IB_HCA") return JudgeHcas(scene, value);
  if (name == "NCCL_IB_GID_INDEX" || name == "NCCL_IB_ADDR_FAMILY" || name == "NCCL_IB_ADDR_RANGE" ||
      name == "NCCL_IB_ROCE_VERSION_NUM")
    return JudgeGids(scene, name);
  if (name == "NCCL_SOCKET_IFNAME" || name == "NCCL_SOCKET_FAMILY") return JudgeInterfaces(scene);
  if (name == "GLOO_SOCKET_IFNAME" || name == "TP_SOCKET_IFNAME") return JudgePlainInterfaces(scene, value);
  if (name == "NCCL_NET") return JudgeNet(scene, value);
  if (name == "NCCL_IB_TC" || name == "NCCL_IB_FIFO_TC") return JudgeTrafficClass(scene, value);
  if (name == "UCX_NET_DEVICES") return JudgeUcxDevices(scene, value);
  if (name == "OMPI_MCA_btl_tcp_if_include" || name == "OMPI_MCA_oob_tcp_if_include")
    return JudgeMpiInterfaces(scene, value);
  return {};
}

// Of NCCL's names only: our table does not hold all of them, so an unknown name is wrong only where a known one is near
// and not set itself.
Findings JudgeName(const Scene& scene, const std::string& name) {
  if (!name.starts_with("NCCL_") || nccl::IsOurOwn(name) || name.size() > nccl::kLongestName) return {};
  std::vector<std::string_view> known;
  for (const auto& variable : nccl::AllVariables()) known.push_back(variable.name);
  const std::string_view nearest = base::Nearest(name, known);
  constexpr std::size_t kFar = 1;  // longer or shorter by more: another name
  const std::size_t shorter = std::min(nearest.size(), name.size());
  if (nearest.empty() || scene.all.contains(nearest) || std::max(nearest.size(), name.size()) - shorter > kFar)
    return {};
  return {{.what = "not a variable that we know",
           .hint = "Did you mean " + std::string(nearest) + "?",
           .is_harmless = true}};
}

Findings Judge(const Scene& scene, const std::string& name, const std::string& value) {
  const auto* variable = nccl::Lookup(name);
  if (variable == nullptr) return JudgeName(scene, name);
  const auto text = nccl::CheckValue(name, value);
  if (!text.ok()) {
    const std::string& expected = text.error().expected;
    return {{text.error().what + (expected.empty() ? "" : ", expected " + expected), text.error().hint}};
  }
  const bool unknown = variable->since.major != 0 && scene.version < variable->since;
  if (unknown) return {{.what = "NCCL " + scene.version.ToString() + " does not read it yet", .is_harmless = true}};
  return JudgeOnNode(scene, name, value);
}

// Of many the first ones and the last, which is what they come to.
void CutMiddle(Findings* findings) {
  if (findings->size() <= kMostFindings) return;
  const auto first = findings->begin() + kMostFindings - 2;
  const std::string more = std::to_string(findings->end() - first - 1) + " more of these";
  *first = {.what = more, .is_harmless = first->is_harmless};
  findings->erase(first + 1, findings->end() - 1);
}

}  // namespace

std::vector<Contradiction> FindContradictions(const facts::Node& node, const Environment& theirs,
                                              const Environment& all, const nccl::NcclVersion& version) {
  const Scene scene{.node = node, .all = all, .version = version, .selection = nccl::SelectHcas(node, version, all)};
  std::vector<Contradiction> out;
  std::size_t unknown = 0;
  for (const auto& [name, value] : theirs) {
    if (name.starts_with("NCCL_") && nccl::Lookup(name) == nullptr && ++unknown > kMostUnknown) continue;
    Findings findings = Judge(scene, name, value);
    CutMiddle(&findings);
    for (auto& finding : findings) {
      out.push_back({.variable = name,
                     .value = value,
                     .what = std::move(finding.what),
                     .hint = std::move(finding.hint),
                     .is_harmless = finding.is_harmless});
    }
  }
  return out;
}

}  // namespace nccl_tune::env
