// SPDX-License-Identifier: Apache-2.0
#include "hw/own_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

namespace nccl_tune::hw {
namespace {

bool IsBridge(const char* name) {
  return access(("/sys/class/net/" + std::string(name) + "/bridge").c_str(), F_OK) == 0;
}

std::optional<facts::IpAddress> AddressOf(const sockaddr* address) {
  facts::IpAddress out;
  if (address != nullptr && address->sa_family == AF_INET6) {
    const auto& bytes = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr;
    std::copy(std::begin(bytes), std::end(bytes), out.bytes.begin());
    return out;
  }
  if (address == nullptr || address->sa_family != AF_INET) return std::nullopt;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  out.bytes[10] = out.bytes[11] = 0xff;
  std::copy(bytes, bytes + 4, out.bytes.end() - 4);
  return out;
}

}  // namespace

std::vector<facts::IpAddress> OwnAddresses() {
  std::vector<facts::IpAddress> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const auto address = AddressOf(entry->ifa_addr);
    if (address && address->IsRoutable() && (entry->ifa_flags & IFF_UP) != 0 && !IsBridge(entry->ifa_name))
      out.push_back(*address);
  }
  freeifaddrs(list);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.IsV4() && !b.IsV4(); });
  return out;
}

}  // namespace nccl_tune::hw
