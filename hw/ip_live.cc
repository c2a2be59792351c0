// SPDX-License-Identifier: Apache-2.0
//
// The live side of IpFacts: getifaddrs for addresses and flags, procfs for routes, rtnetlink for DCB.
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "base/parse_number.h"
#include "hw/ip_facts.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

std::vector<std::string_view> SplitBlanks(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return out;
    const auto end = line.find_first_of(" \t", start);
    out.push_back(line.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return out;
    line.remove_prefix(end);
  }
}

template <typename Take>
void ForEachLine(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

struct SocketAddress {
  facts::IpAddress ip;
  int family = AF_UNSPEC;
};

SocketAddress ToAddress(const sockaddr* raw) {
  SocketAddress out;
  if (raw == nullptr) return out;
  out.family = raw->sa_family;
  if (raw->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, raw, sizeof v4);
    out.ip.bytes[10] = out.ip.bytes[11] = 0xff;
    std::memcpy(out.ip.bytes.data() + 12, &v4.sin_addr, 4);
  } else if (raw->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, raw, sizeof v6);
    std::memcpy(out.ip.bytes.data(), &v6.sin6_addr, 16);
  }
  return out;
}

int MaskLength(const sockaddr* mask, int family) {
  const SocketAddress m = ToAddress(mask);
  int bits = 0;
  for (std::size_t i = family == AF_INET ? 12 : 0; i < 16; ++i) bits += std::popcount(m.ip.bytes[i]);
  return bits;
}

InterfaceFacts& FindOrAdd(const char* name, std::vector<InterfaceFacts>* list) {
  const auto found = std::find_if(list->begin(), list->end(), [&](const InterfaceFacts& i) { return i.name == name; });
  if (found != list->end()) return *found;
  InterfaceFacts fresh;
  fresh.name = name;
  fresh.ifindex = static_cast<int>(if_nametoindex(name));
  return list->emplace_back(std::move(fresh));
}

void ReadInterfaces(std::vector<InterfaceFacts>* out, Notes* notes) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    notes->push_back({.where = "getifaddrs", .what = std::generic_category().message(errno)});
    return;
  }
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    InterfaceFacts& interface = FindOrAdd(i->ifa_name, out);
    interface.up = (i->ifa_flags & IFF_UP) != 0;
    const SocketAddress address = ToAddress(i->ifa_addr);
    if (address.family != AF_INET && address.family != AF_INET6) continue;
    const facts::IpPrefix prefix{.address = address.ip, .length = MaskLength(i->ifa_netmask, address.family)};
    interface.addresses.push_back(
        {.prefix = prefix, .link_scope = address.family == AF_INET6 && address.ip.IsLinkLocal()});
  }
  freeifaddrs(first);
}

std::vector<facts::Route> ReadRouteTable(const Tree& tree, const char* path,
                                         std::vector<facts::Route> (*parse)(std::string_view, Notes*), Notes* notes) {
  constexpr std::size_t kLimit = 4 << 20;
  const auto text = tree.Read(path, kLimit);
  if (text.ok()) return parse(*text, notes);
  if (text.error().code != base::Code::kNotFound) notes->push_back({.where = path, .what = text.error().what});
  return {};
}

// The address that procfs prints as the hexadecimal of a 32-bit word in the machine's byte order.
base::Result<facts::IpAddress> ParseProcAddress(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(word, base::ParseInteger<std::uint32_t>(text, 16));
  facts::IpAddress out;
  out.bytes[10] = out.bytes[11] = 0xff;
  std::memcpy(out.bytes.data() + 12, &word, 4);
  return out;
}

base::Result<facts::Route> ParseProcRow(const std::vector<std::string_view>& column) {
  NCCL_TUNE_ASSIGN_OR_RETURN(address, ParseProcAddress(column[1]));
  NCCL_TUNE_ASSIGN_OR_RETURN(mask, ParseProcAddress(column[7]));
  NCCL_TUNE_ASSIGN_OR_RETURN(metric, base::ParseInteger<std::uint32_t>(column[6]));
  facts::Route out{.destination = std::nullopt, .interface = std::string(column[0]), .metric = metric};
  int length = 0;
  for (std::size_t i = 12; i < 16; ++i) length += std::popcount(mask.bytes[i]);
  if (facts::IpPrefix{.address = mask, .length = length}.Network().address != mask) {
    return base::Error{.code = base::Code::kInvalidInput, .what = "not a network mask", .seen = std::string(column[7])};
  }
  if (length != 0) out.destination = facts::IpPrefix{.address = address, .length = length}.Network();
  return out;
}

base::Result<facts::Route> ParseProcIpv6Row(const std::vector<std::string_view>& column) {
  std::string gid;
  for (std::size_t i = 0; i < column[0].size(); i += 4)
    gid += (i == 0 ? "" : ":") + std::string(column[0].substr(i, 4));
  NCCL_TUNE_ASSIGN_OR_RETURN(address, facts::ParseGid(gid));
  NCCL_TUNE_ASSIGN_OR_RETURN(length, base::ParseInteger<int>(column[1], 16));
  NCCL_TUNE_ASSIGN_OR_RETURN(metric, base::ParseInteger<std::uint32_t>(column[5], 16));
  NCCL_TUNE_ASSIGN_OR_RETURN(prefix, facts::MakePrefix(address, length));
  facts::Route out{.destination = std::nullopt, .interface = std::string(column[9]), .metric = metric};
  if (length != 0) out.destination = prefix.Network();
  return out;
}

}  // namespace

std::vector<facts::Route> ParseProcRoute(std::string_view text, Notes* notes) {
  std::vector<facts::Route> out;
  bool header = true;
  ForEachLine(text, [&](std::string_view line) {
    const auto column = SplitBlanks(line);
    if (std::exchange(header, false) || column.empty()) return;
    auto route =
        column.size() < 8
            ? base::Result<facts::Route>(base::Error{.code = base::Code::kInvalidInput, .what = "row too short"})
            : ParseProcRow(column);
    if (route.ok())
      out.push_back(*route);
    else
      notes->push_back({.where = "proc/net/route", .what = route.error().ToString()});
  });
  return out;
}

std::vector<facts::Route> ParseProcIpv6Route(std::string_view text, Notes* notes) {
  std::vector<facts::Route> out;
  ForEachLine(text, [&](std::string_view line) {
    const auto column = SplitBlanks(line);
    if (column.empty()) return;
    auto route =
        column.size() < 10
            ? base::Result<facts::Route>(base::Error{.code = base::Code::kInvalidInput, .what = "row too short"})
            : ParseProcIpv6Row(column);
    if (!route.ok()) {
      notes->push_back({.where = "proc/net/ipv6_route", .what = route.error().ToString()});
    } else if (route->interface != "lo") {  // the kernel lists its own unreachable defaults there
      out.push_back(*route);
    }
  });
  return out;
}

IpFacts ReadLiveIp(const Tree& tree, Notes* notes) {
  IpFacts out;
  ReadInterfaces(&out.interfaces, notes);
  out.routes = ReadRouteTable(tree, "proc/net/route", ParseProcRoute, notes);
  for (auto& route : ReadRouteTable(tree, "proc/net/ipv6_route", ParseProcIpv6Route, notes)) {
    out.routes.push_back(std::move(route));
  }
  out.dcb = LiveDcb();
  return out;
}

}  // namespace nccl_tune::hw
