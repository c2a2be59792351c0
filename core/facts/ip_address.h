// SPDX-License-Identifier: Apache-2.0
//
// IP addresses, prefixes and GIDs as values. IPv4 is kept as an IPv4-mapped IPv6 address, which is also how a RoCE GID
// holds it, so that a GID and an interface's address compare directly.
#ifndef NCCL_TUNE_CORE_FACTS_IP_ADDRESS_H_
#define NCCL_TUNE_CORE_FACTS_IP_ADDRESS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::facts {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // network order

  auto operator<=>(const IpAddress&) const = default;

  bool IsZero() const;
  bool IsV4() const;         // ::ffff:a.b.c.d
  bool IsLoopback() const;   // 127/8, ::1
  bool IsLinkLocal() const;  // 169.254/16, fe80::/10
  bool IsMulticast() const;  // 224/4, ff00::/8
  // Neither zero, loopback, link-local nor multicast: an address that a router can carry.
  bool IsRoutable() const;
  std::string ToString() const;  // "10.0.0.1", "2001:db8::1"
};

// "a.b.c.d" or any IPv6 form, no zone, no prefix length.
base::Result<IpAddress> ParseIpAddress(std::string_view text);

// A GID as sysfs prints it: 8 groups of exactly 4 hexadecimal digits.
base::Result<IpAddress> ParseGid(std::string_view text);

// An address with the length of its network, in the family's own bits (0..32 or 0..128).
struct IpPrefix {
  IpAddress address;
  int length = 0;

  auto operator<=>(const IpPrefix&) const = default;

  bool Contains(const IpAddress& other) const;
  // The same prefix with its host bits cleared: what a route or NCCL_IB_ADDR_RANGE names.
  IpPrefix Network() const;
  std::string ToString() const;  // "172.20.0.0/24"
};

// Builds a prefix after checking the length against the address's family.
base::Result<IpPrefix> MakePrefix(const IpAddress& address, std::int64_t length);

// "ADDRESS/LENGTH". The address may be that of a host.
base::Result<IpPrefix> ParseIpPrefix(std::string_view text);

}  // namespace nccl_tune::facts

#endif  // NCCL_TUNE_CORE_FACTS_IP_ADDRESS_H_
