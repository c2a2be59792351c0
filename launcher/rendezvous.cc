// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <memory>

#include "core/facts/ip_address.h"
#include "launcher/entry.h"
#include "launcher/hash.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;

bool CanBind(std::uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  const bool bound = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return bound;
}

std::string AddressText(int family, const void* address) {
  std::string text(INET6_ADDRSTRLEN, '\0');
  if (inet_ntop(family, address, text.data(), static_cast<socklen_t>(text.size())) == nullptr) return "";
  text.resize(std::strlen(text.c_str()));
  return text;
}

// The address of one entry of getifaddrs, empty when it is none that other nodes can use.
std::string UsableAddress(const ifaddrs& entry, int family) {
  if (entry.ifa_addr == nullptr || entry.ifa_addr->sa_family != family) return "";
  if (family == AF_INET) {
    const in_addr& address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr;
    const std::uint32_t number = ntohl(address.s_addr);
    const bool link_local = number >> 16U == 0xa9fe;
    return number >> 24U == 127 || link_local ? "" : AddressText(family, &address);
  }
  const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr;
  return IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_LOOPBACK(&address) ? "" : AddressText(family, &address);
}

// The network that the entry's mask leaves of an address.
std::string NetworkOf(const std::string& text, const ifaddrs& entry) {
  const auto address = facts::ParseIpAddress(text);
  if (!address.ok() || entry.ifa_netmask == nullptr) return "";
  int length = 0;
  if (address->IsV4()) {
    length = std::popcount(reinterpret_cast<const sockaddr_in*>(entry.ifa_netmask)->sin_addr.s_addr);
  } else {
    for (const auto byte : reinterpret_cast<const sockaddr_in6*>(entry.ifa_netmask)->sin6_addr.s6_addr) {
      length += std::popcount(byte);
    }
  }
  const auto prefix = facts::MakePrefix(*address, length);
  return prefix.ok() ? prefix->Network().ToString() : "";
}

}  // namespace

std::uint16_t StartPort(const PortRange& range, const pmix::Step& step, std::uint32_t user) {
  const std::uint64_t hash = HashText(step.job + "." + step.step + "." + std::to_string(user));
  return static_cast<std::uint16_t>(range.first + hash % (range.last - range.first + 1U));
}

base::Result<std::uint16_t> FindFreePort(const PortRange& range, std::uint16_t start) {
  const std::uint32_t count = range.last - range.first + 1U;
  for (std::uint32_t step = 0; step < count; ++step) {
    const auto port = static_cast<std::uint16_t>(range.first + (start - range.first + step) % count);
    if (CanBind(port)) return port;
  }
  return Error{.code = Code::kNotFound,
               .what = "no TCP port from " + std::to_string(range.first) + " to " + std::to_string(range.last) +
                       " can be bound on this node",
               .where = "MASTER_PORT",
               .hint = "Set MASTER_PORT yourself."};
}

std::optional<std::string> ExactInterface(const base::Environment& environment) {
  const std::string value = base::Lookup(environment, "NCCL_SOCKET_IFNAME").value_or("");
  if (value.size() < 2 || value.front() != '=' || value.find_first_of(",:^= ", 1) != std::string::npos) {
    return std::nullopt;
  }
  return value.substr(1);
}

std::vector<OwnAddress> ListOwnAddresses() {
  std::vector<OwnAddress> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return out;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
      std::string text = UsableAddress(*entry, family);
      if (text.empty()) continue;
      std::string network = NetworkOf(text, *entry);
      out.push_back({.interface = entry->ifa_name, .text = std::move(text), .network = std::move(network)});
    }
  }
  return out;
}

std::string BootstrapAddress(const base::Environment& environment, const std::vector<OwnAddress>& own,
                             const std::string& node) {
  const auto planned = PlanText(environment, "addr");
  const auto interface = ExactInterface(environment);
  for (const auto& address : own) {
    if (planned == address.text) return address.text;
  }
  for (const auto& address : own) {
    if (interface == address.interface) return address.text;
  }
  return node;
}

}  // namespace nccl_tune::launcher
