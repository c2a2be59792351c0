// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <cstring>
#include <memory>

#include "core/env/plan.h"
#include "core/facts/ip_address.h"

namespace nccl_tune::launcher {
namespace {

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

// Of the plan in the environment; nothing without one that can be read.
std::optional<std::string> PlannedAddress(const base::Environment& environment) {
  const auto text = base::Lookup(environment, env::kPlanVariable);
  if (!text) return std::nullopt;
  const auto plan = env::ParsePlan(*text);
  return plan.ok() ? plan->address : std::nullopt;
}

}  // namespace

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
  const auto planned = PlannedAddress(environment);
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
