// SPDX-License-Identifier: Apache-2.0
#include "core/policy/lossless_class.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nccl_tune::policy {
namespace {

constexpr char kTrusted[] = "dscp";

// What packets of a port leave by: its interface, or a member of its bond.
struct Outlet {
  std::string name;                  // of the interface, or of a port whose interface is not known
  const facts::Dcb* dcb = nullptr;   // null: none
  std::vector<int> priorities;       // that are lossless
  std::optional<std::string> trust;  // as in Dcb
};

Outlet MakeUnknown(const std::string& name) {
  return {.name = name, .dcb = nullptr, .priorities = {}, .trust = std::nullopt};
}

Outlet MakeOutlet(const facts::Netdev& netdev) {
  Outlet out = MakeUnknown(netdev.name);
  if (!netdev.dcb) return out;
  out.dcb = &*netdev.dcb;
  out.priorities = netdev.dcb->LosslessPriorities();
  out.trust = netdev.dcb->trust;
  return out;
}

// Each once, in the order of the ports.
std::vector<Outlet> OutletsOf(const facts::Node& node, const std::vector<PortRef>& ports) {
  std::vector<Outlet> out;
  const auto add = [&](Outlet outlet) {
    if (std::none_of(out.begin(), out.end(), [&](const Outlet& o) { return o.name == outlet.name; }))
      out.push_back(std::move(outlet));
  };
  for (const auto& ref : ports) {
    const facts::Netdev* netdev = ref.port->netdev ? node.FindNetdev(*ref.port->netdev) : nullptr;
    const bool bond = netdev != nullptr && netdev->kind == facts::NetdevKind::kBond && !netdev->members.empty();
    if (netdev == nullptr) {
      add(MakeUnknown(ref.Name()));
    } else if (!bond) {
      add(MakeOutlet(*netdev));
    }
    for (const auto& member : bond ? netdev->members : std::vector<std::string>()) {
      const facts::Netdev* below = node.FindNetdev(member);
      add(below != nullptr ? MakeOutlet(*below) : MakeUnknown(member));
    }
  }
  return out;
}

std::string Join(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + words[i];
  return words.size() > kShown ? out + " and " + std::to_string(words.size() - kShown) + " more" : out;
}

std::string JoinNumbers(const std::vector<int>& numbers) {
  std::string out;
  for (const int number : numbers) out += (out.empty() ? "" : ", ") + std::to_string(number);
  return out;
}

bool Leads(const facts::Dcb& dcb, int dscp, int priority) {
  return std::find(dcb.dscp.begin(), dcb.dscp.end(), facts::DscpPriority{.dscp = dscp, .priority = priority}) !=
         dcb.dscp.end();
}

std::vector<int> DscpsOf(const facts::Dcb& dcb, int priority) {
  std::vector<int> out;
  for (const auto& entry : dcb.dscp) {
    if (entry.priority == priority) out.push_back(entry.dscp);
  }
  return out;
}

// Whether some entry gives `dscp` another priority.
bool LeadsElsewhere(const facts::Dcb& dcb, int dscp, int priority) {
  return std::any_of(dcb.dscp.begin(), dcb.dscp.end(),
                     [&](const auto& entry) { return entry.dscp == dscp && entry.priority != priority; });
}

// Why the outlets have no one lossless priority; empty: they have.
std::string WhyNoPriority(const std::vector<Outlet>& outlets) {
  for (const auto& o : outlets) {
    if (o.priorities.size() > 1)
      return "several priorities of " + o.name + " are lossless: " + JoinNumbers(o.priorities);
  }
  const auto with = std::find_if(outlets.begin(), outlets.end(), [](const Outlet& o) { return !o.priorities.empty(); });
  for (const auto& o : outlets) {
    const std::string first =
        "priority " + std::to_string(with->priorities[0]) + " of " + with->name + " is lossless, ";
    if (o.priorities.empty()) return first + "none of " + o.name;
    if (o.priorities != with->priorities) return first + "and " + std::to_string(o.priorities[0]) + " of " + o.name;
  }
  return "";
}

std::string WhyNoTrust(const std::vector<Outlet>& outlets) {
  for (const auto& o : outlets) {
    if (!o.trust || *o.trust == kTrusted) continue;
    return o.trust->empty() ? "what " + o.name + " trusts could not be read"
                            : o.name + " does not go by the DSCP but by " + *o.trust;
  }
  return "";
}

// The DSCP that alone leads to `priority` everywhere, or why there is none.
std::string FindDscp(const std::vector<Outlet>& outlets, int priority, std::optional<int>* out) {
  const std::string to = " to priority " + std::to_string(priority) + ", the lossless one, on ";
  for (const auto& o : outlets) {
    const auto dscps = DscpsOf(*o.dcb, priority);
    if (dscps.empty()) return "no DSCP is known to lead" + to + o.name;
    if (dscps.size() > 1) return "several DSCPs lead" + to + o.name + ", and which of them is meant is not known";
    if (LeadsElsewhere(*o.dcb, dscps[0], priority))
      return "DSCP " + std::to_string(dscps[0]) + " leads" + to + o.name + ", and to another one";
    if (*out && **out != dscps[0])
      return "DSCP " + std::to_string(**out) + " leads to the lossless priority on " + outlets[0].name + ", DSCP " +
             std::to_string(dscps[0]) + " on " + o.name;
    *out = dscps[0];
  }
  return "";
}

// The administrator's class for all that leaves a port, whatever a program asks for.
std::string WhyOverridden(const std::vector<PortRef>& ports, std::vector<Evidence>* evidence) {
  for (const auto& ref : ports) {
    if (!ref.port->host_traffic_class) continue;
    const std::string path =
        "sys/class/infiniband/" + ref.hca->name + "/tc/" + std::to_string(ref.port->number) + "/traffic_class";
    const std::string& value = *ref.port->host_traffic_class;
    evidence->push_back({path, value.empty() ? "not understood" : "Global tclass=" + value});
    return "the host sets a traffic class of its own on " + ref.Name() + ", which overrides any other";
  }
  return "";
}

std::vector<Evidence> EvidenceOf(const std::vector<Outlet>& outlets) {
  std::vector<Evidence> out;
  for (const auto& o : outlets) {
    std::string text;
    for (const int priority : o.priorities) {
      const auto dscps = o.dcb == nullptr ? std::vector<int>() : DscpsOf(*o.dcb, priority);
      text += (text.empty() ? "" : "; ") + std::string("PFC on priority ") + std::to_string(priority) +
              (dscps.empty() ? ", no DSCP" : ", DSCP " + JoinNumbers(dscps));
    }
    out.push_back({"interface " + o.name, text.empty() ? "no PFC" : text});
    if (o.trust) out.push_back({"sys/class/net/" + o.name + "/qos/trust", *o.trust});
  }
  return out;
}

// Every class that leads to a lossless priority somewhere.
std::vector<Rejection> Candidates(const std::vector<Outlet>& outlets) {
  std::map<std::pair<int, int>, std::vector<std::string>> found;  // DSCP and priority to the outlets
  for (const auto& o : outlets) {
    for (const int priority : o.priorities) {
      for (const int dscp : DscpsOf(*o.dcb, priority)) found[{dscp, priority}].push_back(o.name);
    }
  }
  std::vector<Rejection> out;
  for (const auto& [key, names] : found) {
    out.push_back({.what = std::to_string(TrafficClassOf(key.first)) + " (DSCP " + std::to_string(key.first) + ")",
                   .why = "leads to priority " + std::to_string(key.second) + " on " +
                          (names.size() == outlets.size() ? "every port" : Join(names)) + ", not proved"});
  }
  return out;
}

}  // namespace

int TrafficClassOf(int dscp) {
  constexpr int kEct0 = 2;
  return dscp * 4 + kEct0;
}

LosslessClass FindLosslessClass(const facts::Node& node, const std::vector<PortRef>& ports) {
  LosslessClass out;
  out.reason = "no lossless priority is known";
  if (ports.empty() || !ports.front().IsEthernet()) return out;
  const auto outlets = OutletsOf(node, ports);
  out.any = std::any_of(outlets.begin(), outlets.end(), [](const Outlet& o) { return !o.priorities.empty(); });
  if (!out.any) return out;
  out.evidence = EvidenceOf(outlets);
  std::optional<int> dscp;
  std::string why = WhyNoPriority(outlets);
  if (why.empty()) why = WhyNoTrust(outlets);
  if (why.empty()) why = FindDscp(outlets, outlets[0].priorities[0], &dscp);
  if (why.empty()) why = WhyOverridden(ports, &out.evidence);
  if (why.empty() && dscp == 0) why = "DSCP 0 leads to the lossless priority, and NCCL sends with it by itself";
  if (!why.empty()) {
    out.reason = std::move(why);
    out.rejected = Candidates(outlets);
    return out;
  }
  out.dscp = dscp;
  out.reason = "DSCP " + std::to_string(*dscp) + " alone leads to priority " +
               std::to_string(outlets[0].priorities[0]) +
               ", the only lossless one of every port; x 4, and 2 so that switches mark packets (ECN) rather than drop "
               "them";
  return out;
}

std::string WhyNotLossless(const facts::Node& node, const std::vector<PortRef>& ports, int dscp) {
  if (ports.empty() || !ports.front().IsEthernet()) return "";
  for (const auto& o : OutletsOf(node, ports)) {
    if (o.priorities.size() != 1 || (o.trust && *o.trust != kTrusted)) continue;
    const int lossless = o.priorities[0];
    // Of a DSCP that no entry names the driver decides, and that is not seen.
    if (Leads(*o.dcb, dscp, lossless) || !LeadsElsewhere(*o.dcb, dscp, lossless)) continue;
    return "its DSCP, " + std::to_string(dscp) + ", does not lead to priority " + std::to_string(lossless) +
           ", the only lossless one of " + o.name;
  }
  return "";
}

}  // namespace nccl_tune::policy
