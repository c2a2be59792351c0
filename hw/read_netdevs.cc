// SPDX-License-Identifier: Apache-2.0
#include "hw/read_netdevs.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/parse_number.h"
#include "hw/read_attribute.h"
#include "hw/sysfs_text.h"

namespace nccl_tune::hw {
namespace {

using facts::NetdevKind;
using Notes = std::vector<facts::Note>;

constexpr std::uint64_t kIffUp = 0x1;
// ARPHRD_* of linux/if_arp.h, as the file "type" shows them.
constexpr int kArphrdInfiniband = 32;
constexpr int kArphrdLoopback = 772;
constexpr std::array<int, 6> kArphrdTunnels = {768, 769, 776, 778, 823, 65534};

struct KindName {
  std::string_view text;
  NetdevKind kind;
};
// `ip`'s info_kind and the kernel's DEVTYPE, which agree where both exist.
constexpr std::array<KindName, 19> kKindNames = {{
    {"bridge", NetdevKind::kBridge},      {"bond", NetdevKind::kBond},      {"team", NetdevKind::kBond},
    {"vlan", NetdevKind::kVlan},          {"veth", NetdevKind::kVeth},      {"macvlan", NetdevKind::kMacvlan},
    {"macvtap", NetdevKind::kMacvlan},    {"ipvlan", NetdevKind::kMacvlan}, {"ipoib", NetdevKind::kIpoib},
    {"wlan", NetdevKind::kWireless},      {"tun", NetdevKind::kTunnel},     {"wireguard", NetdevKind::kTunnel},
    {"vxlan", NetdevKind::kTunnel},       {"geneve", NetdevKind::kTunnel},  {"gre", NetdevKind::kTunnel},
    {"ip6tnl", NetdevKind::kTunnel},      {"sit", NetdevKind::kTunnel},     {"ipip", NetdevKind::kTunnel},
    {"openvswitch", NetdevKind::kBridge},
}};

std::optional<NetdevKind> KindByName(std::string_view text) {
  const auto found =
      std::find_if(kKindNames.begin(), kKindNames.end(), [&](const KindName& k) { return k.text == text; });
  return found == kKindNames.end() ? std::nullopt : std::optional(found->kind);
}

std::optional<std::string> DevtypeOf(std::string_view uevent) {
  constexpr std::string_view kKey = "DEVTYPE=";
  const auto at = uevent.find(kKey);
  if (at == std::string_view::npos || (at != 0 && uevent[at - 1] != '\n')) return std::nullopt;
  const std::string_view rest = uevent.substr(at + kKey.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

// What the kernel says of the interface; the first sign that decides.
NetdevKind FindKind(const Tree& tree, const std::string& path, const InterfaceFacts* ip, bool has_device,
                    Notes* notes) {
  if (ip != nullptr && !ip->kind.empty()) return KindByName(ip->kind).value_or(NetdevKind::kOtherVirtual);
  const auto type = ReadParsed(tree, path + "/type", Absence::kNormal, base::ParseInt, notes);
  if (type == kArphrdLoopback) return NetdevKind::kLoopback;
  if (type == kArphrdInfiniband) return NetdevKind::kIpoib;
  if (ip != nullptr && ip->link_type == "loopback") return NetdevKind::kLoopback;
  if (type && std::find(kArphrdTunnels.begin(), kArphrdTunnels.end(), *type) != kArphrdTunnels.end()) {
    return NetdevKind::kTunnel;
  }
  if (tree.Exists(path + "/wireless") || tree.Exists(path + "/phy80211")) return NetdevKind::kWireless;
  if (!has_device) {  // the kernel makes these without one
    if (tree.Exists(path + "/bridge")) return NetdevKind::kBridge;
    if (tree.Exists(path + "/bonding")) return NetdevKind::kBond;
    if (tree.Exists(path + "/tun_flags")) return NetdevKind::kTunnel;
  }
  const auto uevent = tree.Read(path + "/uevent");
  const auto devtype = uevent.ok() ? DevtypeOf(*uevent) : std::nullopt;
  if (devtype && KindByName(*devtype)) return *KindByName(*devtype);
  return has_device ? NetdevKind::kPhysical : NetdevKind::kOtherVirtual;
}

// USB class drivers for a computer at the other end; a dongle has a driver of its own.
bool IsUsbPeerDriver(std::string_view driver) {
  constexpr std::array<std::string_view, 5> kDrivers = {"cdc_ether", "cdc_eem", "cdc_ncm", "cdc_subset", "rndis_host"};
  return std::find(kDrivers.begin(), kDrivers.end(), driver) != kDrivers.end();
}

// running = what getifaddrs shows as IFF_RUNNING: up, and operstate up or unknown (kernel: netif_oper_up).
void ReadState(const Tree& tree, const std::string& path, const InterfaceFacts* ip, facts::Netdev* out, Notes* notes) {
  const auto flags = ReadParsed(tree, path + "/flags", Absence::kNormal, base::ParseHexOrDecimal, notes);
  out->admin_up = flags ? (*flags & kIffUp) != 0 : ip != nullptr && ip->up.value_or(false);
  const auto state = ReadText(tree, path + "/operstate", Absence::kNoted, notes);
  out->running = out->admin_up && (state == "up" || state == "unknown");
  if (!out->admin_up) return;  // the kernel answers EINVAL then
  const auto carrier = tree.Read(path + "/carrier");
  const std::string_view text = carrier.ok() ? base::Trim(*carrier) : std::string_view();
  if (text == "1" || text == "0") out->carrier = text == "1";
}

void ReadDevice(const Tree& tree, const std::string& device, DeviceReader* devices, facts::Netdev* out, Notes* notes) {
  const auto functions = PciFunctionsOf(device);
  if (!functions.empty()) out->pci = functions.back();
  const DeviceFacts& facts = devices->Read(tree, device, notes);
  out->numa_node = facts.numa_node;
  out->driver = facts.driver;
  out->is_usb_peer = IsUsbPeerDriver(facts.driver);
  out->is_usb = out->is_usb_peer || device.find("/usb") != std::string::npos;
}

// The one interface that this one lies on, by the kernel's own link to it.
std::optional<std::string> FindLower(const Tree& tree, const std::string& path) {
  constexpr std::string_view kPrefix = "lower_";
  std::optional<std::string> out;
  for (const auto& entry : tree.List(path).value_or({})) {
    if (!entry.starts_with(kPrefix)) continue;
    if (out) return std::nullopt;
    out = entry.substr(kPrefix.size());
  }
  return out;
}

// What only some kinds have: nothing is read for the others.
void ReadLayers(const Tree& tree, const std::string& path, const InterfaceFacts* ip, facts::Netdev* out, Notes* notes) {
  if (out->kind == NetdevKind::kBond) {
    const auto mode = ReadText(tree, path + "/bonding/mode", Absence::kNormal, notes);
    if (mode) out->bond_mode = mode->substr(0, mode->find(' '));  // "802.3ad 4"
  }
  if (out->kind == NetdevKind::kIpoib) {
    const auto pkey = ReadParsed(tree, path + "/pkey", Absence::kNormal, ParsePkey, notes);
    out->pkey = pkey;
    out->parent = ReadText(tree, path + "/parent", Absence::kNormal, notes);
  }
  if (out->kind != NetdevKind::kVlan && out->kind != NetdevKind::kMacvlan) return;
  if (ip != nullptr) {
    out->parent = ip->parent;
    if (out->kind == NetdevKind::kVlan) out->vlan_id = ip->vlan_id;
  }
  if (!out->parent) out->parent = FindLower(tree, path);
}

// The device that the interface belongs to, by its place, DEVICE/net/NAME, or where that says nothing by its link.
std::optional<std::string> FindDevice(const Tree& tree, const std::string& path, const std::string& name) {
  const std::string tail = "/net/" + name;
  const std::string place = path.ends_with(tail) ? path.substr(0, path.size() - tail.size()) : "";
  if (place == "sys/devices/virtual") return std::nullopt;
  if (place.starts_with("sys/devices/")) return place;
  auto link = tree.Resolve(path + "/device");
  return link.ok() ? std::optional(std::move(link).value()) : std::nullopt;
}

facts::Netdev ReadNetdev(const Tree& tree, const std::string& name, const InterfaceFacts* ip, DeviceReader* devices,
                         Notes* notes) {
  facts::Netdev out;
  out.name = name;
  // Where it lies, so that its links are followed from there and not through the class each time.
  const std::string link = "sys/class/net/" + name;
  const std::string path = tree.Resolve(link).value_or(link);
  const auto index = ReadParsed(tree, path + "/ifindex", Absence::kNormal, base::ParseInt, notes);
  out.ifindex = index ? *index : ip != nullptr ? ip->ifindex : 0;
  const auto device = FindDevice(tree, path, name);
  if (device) ReadDevice(tree, *device, devices, &out, notes);
  out.kind = FindKind(tree, path, ip, device.has_value(), notes);
  ReadState(tree, path, ip, &out, notes);
  ReadLayers(tree, path, ip, &out, notes);
  out.mtu = ReadParsed(tree, path + "/mtu", Absence::kNormal, base::ParseInt, notes);
  // Fails with EINVAL while the interface is down, and says -1 when it does not know: both are "unknown".
  const auto speed = tree.Read(path + "/speed");
  const auto mbit = speed.ok() ? base::ParseInteger<int>(base::Trim(*speed)) : base::Result<int>(-1);
  if (mbit.ok() && *mbit > 0) out.speed = facts::GbitPerSecond{*mbit / 1000.0};
  const auto master = tree.Resolve(path + "/master");
  if (master.ok()) out.master = master->substr(master->rfind('/') + 1);
  if (!out.master && ip != nullptr) out.master = ip->master;
  if (ip != nullptr) out.addresses = ip->addresses;
  return out;
}

const InterfaceFacts* Find(const std::vector<InterfaceFacts>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const InterfaceFacts& i) { return i.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// VLAN numbers that `ip` did not give, from the kernel's one table of this network namespace.
void ReadVlans(const Tree& tree, std::vector<facts::Netdev>* netdevs, Notes* notes) {
  const auto lacks = [](const facts::Netdev& n) { return n.kind == NetdevKind::kVlan && !n.vlan_id; };
  if (std::none_of(netdevs->begin(), netdevs->end(), lacks)) return;
  const auto text = ReadText(tree, "proc/net/vlan/config", Absence::kNormal, notes);
  if (!text) return;
  for (const auto& row : ParseVlanConfig(*text)) {
    const auto found =
        std::find_if(netdevs->begin(), netdevs->end(), [&](const auto& n) { return lacks(n) && n.name == row.name; });
    if (found == netdevs->end()) continue;
    found->vlan_id = row.id;
    if (!found->parent) found->parent = row.parent;
  }
}

void SetMembers(std::vector<facts::Netdev>* netdevs) {
  for (const auto& member : *netdevs) {
    if (!member.master) continue;
    const auto found =
        std::find_if(netdevs->begin(), netdevs->end(), [&](const auto& n) { return n.name == *member.master; });
    if (found != netdevs->end()) found->members.push_back(member.name);
  }
}

}  // namespace

std::vector<facts::Netdev> ReadNetdevs(const Tree& tree, const std::vector<InterfaceFacts>& interfaces,
                                       DeviceReader* devices, Notes* notes) {
  std::vector<facts::Netdev> out;
  const auto names = tree.List("sys/class/net");
  if (!names.ok() && names.error().code != base::Code::kNotFound) {
    notes->push_back({.where = "sys/class/net", .what = names.error().what});
  }
  for (const auto& name : names.value_or({})) {
    if (name == "bonding_masters") continue;  // a file of the bonding driver, not an interface
    out.push_back(ReadNetdev(tree, name, Find(interfaces, name), devices, notes));
  }
  for (const auto& interface : interfaces) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const auto& n) { return n.name == interface.name; });
    if (known || interface.link_type == "loopback") continue;
    notes->push_back(
        {.where = "sys/class/net/" + base::Printable(interface.name), .what = "absent, though it has addresses"});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.ifindex < b.ifindex; });
  ReadVlans(tree, &out, notes);
  SetMembers(&out);
  return out;
}

}  // namespace nccl_tune::hw
