// SPDX-License-Identifier: Apache-2.0
//
// An address and a port as the socket calls take them.
#ifndef NCCL_TUNE_SPANK_SOCKET_ADDRESS_H_
#define NCCL_TUNE_SPANK_SOCKET_ADDRESS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

#include "core/facts/ip_address.h"

namespace nccl_tune::spank {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// IPv4 as such, not as an IPv6 address that holds it: a host may have no IPv6.
inline SocketAddress MakeSocketAddress(const facts::IpAddress& address, int port) {
  SocketAddress out;
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (address.IsV4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = number;
    std::copy(address.bytes.end() - 4, address.bytes.end(), reinterpret_cast<std::uint8_t*>(&v4->sin_addr));
    out.length = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = number;
    std::copy(address.bytes.begin(), address.bytes.end(), v6->sin6_addr.s6_addr);
    out.length = sizeof *v6;
  }
  return out;
}

// The port stands at the same place in both families.
inline int PortOf(const SocketAddress& address) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_SOCKET_ADDRESS_H_
