// SPDX-License-Identifier: Apache-2.0
//
// What one node is, as plain values: no methods that read, no defaults that stand for "unknown". A fact that could not
// be read is std::nullopt, and a Note says why.
//
// Units: rates and speeds in Gbit/s, MTU in bytes. Source of each fact: the sysfs path named beside it, relative to the
// device, in the kernel's ABI documentation.
#ifndef NCCL_TUNE_CORE_FACTS_NODE_H_
#define NCCL_TUNE_CORE_FACTS_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/facts/pci_address.h"

namespace nccl_tune::facts {

// Gbit/s on the wire, one direction. Never bytes: NCCL's GB/s are another unit.
struct GbitPerSecond {
  double value = 0;
  auto operator<=>(const GbitPerSecond&) const = default;
};

// Something that could not be read or made no sense; detection went on without it.
struct Note {
  std::string where;  // path below the root
  std::string what;   // one clause
  // Whoever looks at the plan must see it: something that was said does not hold, such as a site's whole policy.
  bool warns = false;
};

enum class LinkLayer { kInfiniBand, kEthernet, kOther };  // ports/N/link_layer; kOther: EFA and unknown
enum class PortState { kDown, kInit, kArmed, kActive, kActiveDefer, kOther };  // ports/N/state
enum class RoceVersion { kV1, kV2 };                                           // gid_attrs/types/K

struct Gid {
  int index = 0;
  IpAddress address;
  std::optional<RoceVersion> version;  // absent on InfiniBand links and when unreadable
  std::optional<std::string> netdev;   // gid_attrs/ndevs/K; absent when hidden or in another network namespace
};

struct IbPort {
  int number = 0;  // verbs port, from 1
  std::optional<PortState> state;
  std::optional<LinkLayer> link_layer;  // read for ACTIVE ports only
  std::string physical_state;           // "LinkUp", "Polling"; for the reader, nothing decides on it
  std::optional<GbitPerSecond> rate;
  std::optional<std::uint32_t> lid;
  std::optional<std::uint32_t> sm_lid;
  // OFED's tc/<port>/traffic_class: overrides every class that a program asks for. Like `trust` of Dcb read only where
  // the port's interface has a lossless priority. An empty text: something is there that is not understood.
  std::optional<std::string> host_traffic_class;
  std::vector<Gid> gids;              // non-zero entries, by index
  bool gids_in_doubt = false;         // some entry or its version could not be read: what is missing may be there
  std::optional<std::string> netdev;  // the port's own interface (not a VLAN above it)
};

enum class NodeType { kChannelAdapter, kRnic, kOther };  // node_type 1, 4 (iWARP), anything else (EFA)

enum class Openable {
  kYes,
  kNo,       // the node is there, and this user may not open it
  kMissing,  // no node for this device
  kUnknown,  // not looked at: this tree has no dev/
};

struct Hca {
  std::string name;                             // verbs name
  std::optional<NodeType> node_type;            // node_type
  std::optional<PciAddress> pci;                // device link; absent for software devices
  std::optional<int> numa_node;                 // absent also where the kernel says -1
  std::string driver;                           // device/driver link: "mlx5_core"; empty when there is none
  std::string board;                            // board_id
  std::string image_guid;                       // sys_image_guid: equal for the functions of one card
  bool is_virtual_function = false;             // physfn link
  std::optional<PciAddress> physical_function;  // where that link leads; absent in a virtual machine
  bool is_software = false;                     // no device behind it (rxe, siw)
  std::vector<PciAddress> pci_path;             // from the root port down, without the device itself
  std::optional<std::string> uverbs;            // "uverbs1"
  Openable openable = Openable::kUnknown;
  std::vector<IbPort> ports;  // by number
};

enum class NetdevKind {
  kPhysical,
  kLoopback,
  kBridge,
  kBond,
  kVlan,
  kVeth,
  kMacvlan,
  kTunnel,
  kIpoib,
  kWireless,
  kOtherVirtual,
};

struct InterfaceAddress {
  IpPrefix prefix;
  bool link_scope = false;  // valid on the link only
};

// A DSCP and the priority that packets which carry it get.
struct DscpPriority {
  int dscp = 0;      // 0 to 63
  int priority = 0;  // 0 to 7
  auto operator<=>(const DscpPriority&) const = default;
};

// What an Ethernet interface does to keep traffic from being dropped (IEEE 802.1Q: DCB), as set on this host; whether
// the switch agrees cannot be read here. Source: rtnetlink's RTM_GETDCB, or what `dcb -j` prints of it.
struct Dcb {
  std::uint8_t pfc = 0;              // bit P: priority P is paused rather than dropped
  std::vector<DscpPriority> dscp;    // application entries, sorted, each once
  std::optional<std::string> trust;  // OFED's qos/trust: "dscp", "pcp"; absent: no such file; empty: unreadable

  std::vector<int> LosslessPriorities() const;  // those of `pfc`
};

struct Netdev {
  std::string name;
  int ifindex = 0;
  NetdevKind kind = NetdevKind::kOtherVirtual;
  bool admin_up = false;  // IFF_UP
  bool running = false;   // what NCCL asks for as IFF_RUNNING: up, and operstate up or unknown
  std::optional<int> mtu;
  std::optional<GbitPerSecond> speed;
  std::optional<PciAddress> pci;
  std::optional<int> numa_node;
  std::string driver;
  std::optional<bool> carrier;        // absent while the interface is down
  std::optional<std::string> master;  // bond or bridge it belongs to
  std::vector<std::string> members;   // those whose master this is, by ifindex
  std::string bond_mode;              // bonding/mode: "802.3ad", "active-backup"; empty for what is no bond
  std::optional<std::string> parent;  // what a VLAN, a macvlan or an IPoIB child lies on
  std::optional<int> vlan_id;         // of a VLAN
  std::optional<std::uint32_t> pkey;  // of IPoIB
  // Asked for only where a RoCE port that is ACTIVE has this interface, or a bond that this is a member of. Absent also
  // where there is no DCB.
  std::optional<Dcb> dcb;
  bool is_usb = false;       // on a USB bus: a dongle, a phone, a BMC
  bool is_usb_peer = false;  // USB class driver that talks to another computer: most often the node's BMC
  std::vector<InterfaceAddress> addresses;  // in the kernel's order
};

struct Route {
  std::optional<IpPrefix> destination;  // absent: default
  std::string interface;
  std::uint32_t metric = 0;
};

enum class GpuVendor { kNvidia, kAmd };

struct Gpu {
  PciAddress pci;
  GpuVendor vendor = GpuVendor::kNvidia;
  std::optional<int> numa_node;
  std::vector<PciAddress> pci_path;
};

struct Node {
  std::vector<Hca> hcas;  // by PCI address, those without one last: NCCL's own order from 2.29.7 on
  // By ifindex. getifaddrs, which NCCL follows, lists the IPv4 addresses of all first, then the IPv6 ones.
  std::vector<Netdev> netdevs;
  std::vector<Gpu> gpus;  // by PCI address
  std::vector<Route> routes;
  std::optional<IpAddress> address;  // the node's address in Slurm, where known
  std::vector<Note> notes;

  const Netdev* FindNetdev(const std::string& name) const;
};

}  // namespace nccl_tune::facts

#endif  // NCCL_TUNE_CORE_FACTS_NODE_H_
