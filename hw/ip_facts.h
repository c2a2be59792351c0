// SPDX-License-Identifier: Apache-2.0
//
// Addresses, link kinds, routes and whom to ask for DCB: what sysfs does not hold. From the JSON of `ip -j addr`,
// `ip -j route` and `dcb -j` for trees and captures, from the kernel itself on a live machine.
#ifndef NCCL_TUNE_HW_IP_FACTS_H_
#define NCCL_TUNE_HW_IP_FACTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "core/facts/node.h"
#include "hw/dcb.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

struct InterfaceFacts {
  std::string name;
  int ifindex = 0;
  std::optional<bool> up;  // IFF_UP
  std::string kind;        // "bond", "vlan", "veth"...; empty: a physical device, or not known
  std::string link_type;   // "ether", "loopback", "infiniband"; empty: not known
  std::optional<std::string> master;
  std::optional<std::string> parent;  // "link": what a VLAN or macvlan lies on
  std::optional<int> vlan_id;
  std::vector<facts::InterfaceAddress> addresses;
};

struct IpFacts {
  std::vector<InterfaceFacts> interfaces;  // in the order given, which is the kernel's
  std::vector<facts::Route> routes;
  DcbSource dcb;
};

// `ip -j addr` and `ip -j route`. Fails when the text is not such JSON; entries that make no sense are noted.
base::Result<std::vector<InterfaceFacts>> ParseIpAddr(std::string_view text, std::vector<facts::Note>* notes);
base::Result<std::vector<facts::Route>> ParseIpRoute(std::string_view text, std::vector<facts::Note>* notes);

// The two files at the top of `tree`, of which a missing or broken one is noted, and DCB's, which most trees do not
// have. The rest goes on without them.
IpFacts ReadIpFiles(const Tree& tree, std::vector<facts::Note>* notes);

// This process's network namespace: getifaddrs, the route tables of procfs below `tree`, and the kernel for DCB.
IpFacts ReadLiveIp(const Tree& tree, std::vector<facts::Note>* notes);

// Facts back to the JSON that ParseIpAddr and ParseIpRoute read: what `ip -j` would print of them, as far as we know
// it.
std::string WriteIpAddr(const std::vector<InterfaceFacts>& interfaces);
std::string WriteIpRoute(const std::vector<facts::Route>& routes);

// Rows of proc/net/route and proc/net/ipv6_route.
std::vector<facts::Route> ParseProcRoute(std::string_view text, std::vector<facts::Note>* notes);
std::vector<facts::Route> ParseProcIpv6Route(std::string_view text, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_IP_FACTS_H_
