// SPDX-License-Identifier: Apache-2.0
#include "hw/local_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace nccl_tune::hw {
namespace {

std::optional<facts::IpAddress> ToAddress(const addrinfo& info) {
  facts::IpAddress out;
  if (info.ai_family == AF_INET && info.ai_addrlen >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, info.ai_addr, sizeof v4);
    out.bytes[10] = out.bytes[11] = 0xff;
    std::memcpy(out.bytes.data() + 12, &v4.sin_addr, 4);
    return out;
  }
  if (info.ai_family == AF_INET6 && info.ai_addrlen >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, info.ai_addr, sizeof v6);
    std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
    return out;
  }
  return std::nullopt;
}

bool IsOurs(const facts::IpAddress& address, const std::vector<InterfaceFacts>& interfaces) {
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const InterfaceFacts& i) {
    return std::any_of(i.addresses.begin(), i.addresses.end(),
                       [&](const auto& a) { return a.prefix.address == address; });
  });
}

}  // namespace

std::string OwnHostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::optional<facts::IpAddress> FindNodeAddress(const std::string& name,
                                                const std::vector<InterfaceFacts>& interfaces) {
  if (name.empty()) return std::nullopt;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return std::nullopt;
  std::optional<facts::IpAddress> out;
  for (const addrinfo* i = list; i != nullptr && !out; i = i->ai_next) {
    const auto address = ToAddress(*i);
    if (address && address->IsRoutable() && IsOurs(*address, interfaces)) out = address;
  }
  freeaddrinfo(list);
  return out;
}

}  // namespace nccl_tune::hw
