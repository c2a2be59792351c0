// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/interface_order.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "core/nccl/name_list.h"

namespace nccl_tune::nccl {
namespace {

constexpr std::size_t kMostInterfaces = 16;
constexpr NcclVersion kRunningAsked{2, 28, 0};  // and virbr left out
// Releases whose IPv4 subnet test for NCCL_COMM_ID is the wrong way round.
constexpr NcclVersion kInvertedSince{2, 29, 2};
constexpr NcclVersion kInvertedUntil{2, 30, 3};

struct Candidate {
  const facts::Netdev* netdev = nullptr;
  facts::IpPrefix prefix;
};

// getifaddrs as the kernel answers it: the IPv4 addresses of all interfaces, then the IPv6 ones.
std::vector<Candidate> ListAddresses(const facts::Node& node) {
  std::vector<Candidate> out;
  for (const bool v4 : {true, false}) {
    for (const facts::Netdev& netdev : node.netdevs) {
      for (const facts::InterfaceAddress& address : netdev.addresses) {
        if (address.prefix.address.IsV4() == v4) out.push_back({.netdev = &netdev, .prefix = address.prefix});
      }
    }
  }
  return out;
}

bool IsUsable(const Candidate& candidate, NcclVersion version, const Environment& environment) {
  const facts::IpAddress& address = candidate.prefix.address;
  if (version >= kRunningAsked && !candidate.netdev->running) return false;
  const auto family = GetVariable(environment, "NCCL_SOCKET_FAMILY");
  if (family == "AF_INET" && !address.IsV4()) return false;
  if (family == "AF_INET6" && address.IsV4()) return false;
  return address.IsV4() || !address.IsLoopback();
}

// Each name once, with its first address.
std::vector<TakenInterface> Take(const std::vector<Candidate>& candidates, const NameList& list) {
  std::vector<TakenInterface> out;
  for (const Candidate& candidate : candidates) {
    const std::string& name = candidate.netdev->name;
    const auto same = [&](const TakenInterface& taken) { return taken.name == name; };
    if (out.size() == kMostInterfaces) break;
    if (!list.Matches(name) || std::any_of(out.begin(), out.end(), same)) continue;
    out.push_back({.name = name, .address = candidate.prefix.address});
  }
  return out;
}

// The address in "a.b.c.d:port" or "[v6]:port"; nothing for a host name.
std::optional<facts::IpAddress> ReadCommId(std::string_view text) {
  if (text.starts_with('[')) text.remove_prefix(1);
  const std::size_t end = text.find_first_of(text.find(']') == std::string_view::npos ? ":" : "]%");
  const auto address = facts::ParseIpAddress(text.substr(0, end));
  if (!address.ok()) return std::nullopt;
  return *address;
}

bool SharesSubnet(const facts::IpPrefix& local, const facts::IpAddress& remote, NcclVersion version) {
  if (local.address.IsV4() != remote.IsV4()) return false;
  if (!remote.IsV4()) return !local.address.IsLinkLocal() && local.Contains(remote);
  const bool inverted = version >= kInvertedSince && version < kInvertedUntil;
  return local.Contains(remote) != inverted;
}

// Asks neither the interface's state nor NCCL_SOCKET_FAMILY. One interface at most.
InterfaceOrder TakeCommId(const facts::Node& node, NcclVersion version, std::string_view comm_id) {
  const auto remote = ReadCommId(comm_id);
  if (!remote) return {.step = InterfaceStep::kUnresolved, .reason = "NCCL_COMM_ID names a host, not an address"};
  for (const Candidate& candidate : ListAddresses(node)) {
    if (!SharesSubnet(candidate.prefix, *remote, version)) continue;
    return {.interfaces = {{.name = candidate.netdev->name, .address = candidate.prefix.address}},
            .step = InterfaceStep::kCommId,
            .reason = "shares a subnet with the address in NCCL_COMM_ID, as this release tests it"};
  }
  return {.reason = "no interface shares a subnet with the address in NCCL_COMM_ID"};
}

struct DefaultStep {
  InterfaceStep step;
  std::string_view list;
  std::string_view reason;
};

InterfaceOrder TakeFirstStep(const std::vector<Candidate>& candidates, NcclVersion version) {
  const bool knows_virbr = version >= kRunningAsked;
  const DefaultStep steps[] = {
      {InterfaceStep::kOrdinary, knows_virbr ? "^docker,lo,virbr" : "^docker,lo",
       "first interface that is neither docker, lo nor virbr"},
      {InterfaceStep::kDocker, "docker", "only docker interfaces were left"},
      {InterfaceStep::kLo, "lo", "only loopback was left"},
      {InterfaceStep::kVirbr, "virbr", "only virbr interfaces were left"},
  };
  for (const DefaultStep& step : steps) {
    if (step.step == InterfaceStep::kVirbr && !knows_virbr) continue;
    std::vector<TakenInterface> taken = Take(candidates, *ParseInterfaceList(step.list, version));
    if (taken.empty()) continue;
    return {.interfaces = std::move(taken), .step = step.step, .reason = std::string(step.reason)};
  }
  return {.reason = "no interface has a usable address"};
}

}  // namespace

InterfaceOrder OrderInterfaces(const facts::Node& node, NcclVersion version, const Environment& environment) {
  std::vector<Candidate> candidates;
  for (const Candidate& candidate : ListAddresses(node)) {
    if (IsUsable(candidate, version, environment)) candidates.push_back(candidate);
  }
  const auto names = ParseInterfaceList(GetVariable(environment, "NCCL_SOCKET_IFNAME").value_or(""), version);
  if (names) {
    std::vector<TakenInterface> taken = Take(candidates, *names);
    if (taken.empty()) return {.reason = "nothing matches NCCL_SOCKET_IFNAME, and there is no fallback"};
    return {
        .interfaces = std::move(taken), .step = InterfaceStep::kNamed, .reason = "first match of NCCL_SOCKET_IFNAME"};
  }
  std::vector<TakenInterface> taken = Take(candidates, *ParseInterfaceList("ib", version));
  if (!taken.empty()) {
    return {.interfaces = std::move(taken),
            .step = InterfaceStep::kIb,
            .reason = "first interface whose name begins with ib"};
  }
  const std::string_view comm_id = GetVariable(environment, "NCCL_COMM_ID").value_or("");
  if (comm_id.size() > 1) {
    InterfaceOrder found = TakeCommId(node, version, comm_id);
    if (found.step != InterfaceStep::kNone) return found;
  }
  return TakeFirstStep(candidates, version);
}

InterfaceOrder ChooseBootstrap(const facts::Node& node, NcclVersion version, const Environment& environment) {
  if (const auto comm_id = GetVariable(environment, "NCCL_COMM_ID")) {
    if (comm_id->size() <= 1) return {.reason = "NCCL_COMM_ID holds no address"};
    return TakeCommId(node, version, *comm_id);
  }
  InterfaceOrder order = OrderInterfaces(node, version, environment);
  if (order.interfaces.size() > 1) order.interfaces.resize(1);
  return order;
}

}  // namespace nccl_tune::nccl
