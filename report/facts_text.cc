// SPDX-License-Identifier: Apache-2.0
#include "report/facts_text.h"

#include <string_view>
#include <utility>

#include "base/json.h"
#include "core/facts/number_text.h"
#include "report/details_text.h"
#include "report/wrap.h"

namespace nccl_tune::report {
namespace {

using base::Json;

std::string_view Text(facts::PortState state) {
  constexpr std::string_view kNames[] = {"DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER", "other"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view Text(facts::LinkLayer layer) {
  constexpr std::string_view kNames[] = {"InfiniBand", "Ethernet", "other"};
  return kNames[static_cast<std::size_t>(layer)];
}

std::string_view Text(facts::Openable openable) {
  constexpr std::string_view kNames[] = {"yes", "no", "missing", "unknown"};
  return kNames[static_cast<std::size_t>(openable)];
}

std::string_view Text(facts::NodeType type) {
  constexpr std::string_view kNames[] = {"CA", "RNIC", "other"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view Text(facts::NetdevKind kind) {
  constexpr std::string_view kNames[] = {"physical", "loopback", "bridge", "bond", "vlan",   "veth",
                                         "macvlan",  "tunnel",   "ipoib",  "wlan", "virtual"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view Text(facts::RoceVersion version) { return version == facts::RoceVersion::kV1 ? "v1" : "v2"; }
std::string_view Text(facts::GpuVendor vendor) { return vendor == facts::GpuVendor::kNvidia ? "NVIDIA" : "AMD"; }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json PciJson(const std::optional<facts::PciAddress>& pci) { return pci ? Json(pci->ToString()) : Json(); }
Json RateJson(const std::optional<facts::GbitPerSecond>& rate) { return rate ? Json(rate->value) : Json(); }

Json PortJson(const facts::IbPort& port) {
  Json out;
  out["port"] = port.number;
  out["state"] = port.state ? Json(Text(*port.state)) : Json();
  out["link_layer"] = port.link_layer ? Json(Text(*port.link_layer)) : Json();
  out["gbps"] = RateJson(port.rate);
  out["lid"] = OrNull(port.lid);
  out["sm_lid"] = OrNull(port.sm_lid);
  out["netdev"] = OrNull(port.netdev);
  out["gids"] = Json::array();
  for (const auto& gid : port.gids) {
    out["gids"].push_back({{"index", gid.index},
                           {"address", gid.address.ToString()},
                           {"roce", gid.version ? Json(Text(*gid.version)) : Json()},
                           {"netdev", OrNull(gid.netdev)}});
  }
  return out;
}

Json HcaJson(const facts::Hca& hca) {
  Json out;
  out["name"] = hca.name;
  out["driver"] = hca.driver;
  out["pci"] = PciJson(hca.pci);
  out["numa"] = OrNull(hca.numa_node);
  out["node_type"] = hca.node_type ? Json(Text(*hca.node_type)) : Json();
  out["virtual_function"] = hca.is_virtual_function;
  out["physical_function"] = PciJson(hca.physical_function);
  out["software"] = hca.is_software;
  out["uverbs"] = OrNull(hca.uverbs);
  out["openable"] = Text(hca.openable);
  out["ports"] = Json::array();
  for (const auto& port : hca.ports) out["ports"].push_back(PortJson(port));
  return out;
}

Json DcbJson(const facts::Dcb& dcb) {
  Json out;
  out["pfc"] = dcb.LosslessPriorities();
  out["dscp"] = Json::array();
  for (const auto& entry : dcb.dscp) out["dscp"].push_back(Json::array({entry.dscp, entry.priority}));
  out["trust"] = OrNull(dcb.trust);
  return out;
}

Json NetdevJson(const facts::Netdev& netdev) {
  Json out;
  out["name"] = netdev.name;
  out["kind"] = Text(netdev.kind);
  out["up"] = netdev.admin_up;
  out["running"] = netdev.running;
  out["mtu"] = OrNull(netdev.mtu);
  out["gbps"] = RateJson(netdev.speed);
  out["pci"] = PciJson(netdev.pci);
  out["numa"] = OrNull(netdev.numa_node);
  out["driver"] = netdev.driver;
  out["carrier"] = OrNull(netdev.carrier);
  out["master"] = OrNull(netdev.master);
  out["members"] = netdev.members;
  out["bond_mode"] = netdev.bond_mode.empty() ? Json() : Json(netdev.bond_mode);
  out["parent"] = OrNull(netdev.parent);
  out["vlan"] = OrNull(netdev.vlan_id);
  out["pkey"] = OrNull(netdev.pkey);
  if (netdev.dcb) out["dcb"] = DcbJson(*netdev.dcb);
  out["usb"] = netdev.is_usb;
  out["usb_peer"] = netdev.is_usb_peer;
  out["addresses"] = Json::array();
  for (const auto& a : netdev.addresses) out["addresses"].push_back(a.prefix.ToString());
  return out;
}

std::string PortLine(const facts::Hca& hca, const facts::IbPort& port) {
  std::string out = port.state ? std::string(Text(*port.state)) : "state unknown";
  if (port.link_layer) out += ", " + std::string(Text(*port.link_layer));
  if (port.rate) out += ", " + facts::NumberText(port.rate->value) + " Gb/s";
  if (port.lid) out += ", lid " + std::to_string(*port.lid);
  if (port.netdev) out += ", " + *port.netdev;
  if (hca.pci) out += ", " + hca.pci->ToString();
  if (!hca.driver.empty()) out += ", " + hca.driver;
  if (hca.physical_function) out += ", virtual function of " + hca.physical_function->ToString();
  if (hca.openable == facts::Openable::kNo) out += ", " + hca.uverbs.value_or("its uverbs node") + " may not be opened";
  if (hca.openable == facts::Openable::kMissing) out += ", no uverbs node";
  return out;
}

std::string Join(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

// ", PFC on priority 3 (DSCP 26)"
std::string DcbText(const facts::Dcb& dcb) {
  std::string out;
  for (const int priority : dcb.LosslessPriorities()) {
    std::string dscps;
    for (const auto& entry : dcb.dscp) {
      if (entry.priority == priority) dscps += (dscps.empty() ? " (DSCP " : " ") + std::to_string(entry.dscp);
    }
    out += ", PFC on priority " + std::to_string(priority) + dscps + (dscps.empty() ? "" : ")");
  }
  return out;
}

std::string NetdevLine(const facts::Netdev& netdev) {
  std::string out = std::string(Text(netdev.kind)) + (netdev.running ? ", up" : ", down");
  if (netdev.speed) out += ", " + facts::NumberText(netdev.speed->value) + " Gb/s";
  if (netdev.mtu) out += ", MTU " + std::to_string(*netdev.mtu);
  if (netdev.carrier == false) out += ", no carrier";
  if (!netdev.bond_mode.empty()) out += ", " + netdev.bond_mode;
  if (!netdev.members.empty()) out += ", over " + Join(netdev.members);
  if (netdev.vlan_id) out += ", VLAN " + std::to_string(*netdev.vlan_id);
  if (netdev.pkey) out += ", P_Key " + std::to_string(*netdev.pkey);
  if (netdev.parent) out += ", on " + *netdev.parent;
  if (netdev.dcb) out += DcbText(*netdev.dcb);
  if (netdev.is_usb) out += netdev.is_usb_peer ? ", USB to another computer (a BMC?)" : ", USB";
  if (netdev.master) out += ", member of " + *netdev.master;
  for (const auto& a : netdev.addresses) out += ", " + a.prefix.ToString();
  return out;
}

}  // namespace

std::string FactsText(const facts::Node& node, const facts::NodeDetails& details,
                      const std::vector<nccl::ConfFile>& conf_files) {
  constexpr std::size_t kColumn = 20;
  std::string out = "RDMA ports\n";
  for (const auto& hca : node.hcas) {
    for (const auto& port : hca.ports) {
      out += Wrap("  " + hca.name + ":" + std::to_string(port.number), kColumn, PortLine(hca, port));
      for (const auto& gid : port.gids) {
        out += Wrap("      gid " + std::to_string(gid.index), kColumn,
                    gid.address.ToString() + (gid.version ? " RoCE " + std::string(Text(*gid.version)) : "") +
                        (gid.netdev ? " " + *gid.netdev : ""));
      }
    }
  }
  out += "Interfaces\n";
  for (const auto& netdev : node.netdevs) out += Wrap("  " + netdev.name, kColumn, NetdevLine(netdev));
  out += "GPUs\n";
  for (const auto& gpu : node.gpus) {
    out += Wrap("  " + gpu.pci.ToString(), kColumn,
                std::string(Text(gpu.vendor)) + (gpu.numa_node ? ", NUMA " + std::to_string(*gpu.numa_node) : ""));
  }
  out += "Default routes\n";
  for (const auto& route : node.routes) {
    if (!route.destination) out += Wrap("  " + route.interface, kColumn, "metric " + std::to_string(route.metric));
  }
  if (node.address) out += Wrap("Node address", kColumn, node.address->ToString());
  out += DetailsText(node, details, kColumn) + ConfFilesText(conf_files, kColumn);
  if (!node.notes.empty() || !details.notes.empty()) out += "Not read\n";
  for (const auto* notes : {&node.notes, &details.notes}) {
    for (const auto& note : *notes) out += Wrap("", 2, note.where + ": " + note.what);
  }
  return out;
}

std::string FactsJson(const facts::Node& node, const facts::NodeDetails& details,
                      const std::vector<nccl::ConfFile>& conf_files) {
  Json out;
  out["version"] = 1;
  out["node_address"] = node.address ? Json(node.address->ToString()) : Json();
  out["hcas"] = Json::array();
  for (const auto& hca : node.hcas) out["hcas"].push_back(HcaJson(hca));
  out["netdevs"] = Json::array();
  for (const auto& netdev : node.netdevs) out["netdevs"].push_back(NetdevJson(netdev));
  out["gpus"] = Json::array();
  for (const auto& gpu : node.gpus) {
    out["gpus"].push_back({{"pci", gpu.pci.ToString()}, {"vendor", Text(gpu.vendor)}, {"numa", OrNull(gpu.numa_node)}});
  }
  out["routes"] = Json::array();
  for (const auto& route : node.routes) {
    out["routes"].push_back({{"destination", route.destination ? Json(route.destination->ToString()) : Json("default")},
                             {"interface", route.interface},
                             {"metric", route.metric}});
  }
  out["details"] = DetailsJson(details);
  out["conf_files"] = ConfFilesJson(conf_files);
  out["notes"] = Json::array();
  for (const auto* notes : {&node.notes, &details.notes}) {
    for (const auto& note : *notes) out["notes"].push_back({{"where", note.where}, {"what", note.what}});
  }
  return base::DumpJson(out, 2) + "\n";
}

}  // namespace nccl_tune::report
