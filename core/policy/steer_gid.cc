// SPDX-License-Identifier: Apache-2.0
#include "core/policy/steer_gid.h"

#include <algorithm>

#include "core/nccl/environment.h"
#include "core/nccl/gid_ranking.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::policy {
namespace {

// The automatic choice is the same from 2.21 to 2.32 for tables whose types can be read (core/nccl/gid_ranking.h).
constexpr nccl::NcclVersion kModel = nccl::kAssumedVersion;

std::optional<int> CommonIndex(const std::vector<PortRef>& ports) {
  const int index = ports.front().gid->index;
  const bool same = std::all_of(ports.begin(), ports.end(), [&](const PortRef& r) { return r.gid->index == index; });
  return same ? std::optional(index) : std::nullopt;
}

nccl::Environment Variables(const GidSteering& steering) {
  nccl::Environment out;
  if (steering.ipv6) out["NCCL_IB_ADDR_FAMILY"] = "AF_INET6";
  if (steering.range) out["NCCL_IB_ADDR_RANGE"] = steering.range->ToString();
  return out;
}

bool EndsRight(const std::vector<PortRef>& ports, const GidSteering& steering) {
  const auto variables = Variables(steering);
  return std::all_of(ports.begin(), ports.end(), [&](const PortRef& ref) {
    return nccl::ChooseGid(*ref.port, kModel, variables).index == ref.gid->index;
  });
}

// The longest prefix that holds the right address of every port.
std::optional<facts::IpPrefix> CommonRange(const std::vector<PortRef>& ports) {
  const facts::IpAddress& first = ports.front().gid->address;
  facts::IpPrefix out{.address = first, .length = first.IsV4() ? 32 : 128};
  for (const auto& ref : ports) {
    if (ref.gid->address.IsV4() != first.IsV4()) return std::nullopt;
    while (out.length > 0 && !out.Network().Contains(ref.gid->address)) --out.length;
  }
  if (out.length == 0) return std::nullopt;
  return out.Network();
}

std::optional<GidSteering> ByAddress(const std::vector<PortRef>& ports) {
  GidSteering out{.means = GidMeans::kAddress, .index = {}, .ipv6 = false, .range = {}, .reason = {}};
  out.ipv6 = std::all_of(ports.begin(), ports.end(), [](const PortRef& ref) { return !ref.gid->address.IsV4(); });
  if (out.ipv6 && EndsRight(ports, out)) {
    out.reason = "the right GIDs are IPv6 addresses, and NCCL looks for IPv4 by default";
    return out;
  }
  out.range = CommonRange(ports);
  if (!out.range || !EndsRight(ports, out)) return std::nullopt;
  out.reason = "the right GIDs are those in " + out.range->ToString() + "; by itself NCCL would take another address";
  return out;
}

}  // namespace

GidSteering SteerGid(const std::vector<PortRef>& ports, bool pin) {
  GidSteering out;
  if (ports.empty() || !ports.front().IsEthernet()) {
    out.reason = ports.empty() ? "no port is selected" : "InfiniBand ports need none";
    return out;
  }
  const auto index = CommonIndex(ports);
  const GidSteering by_index{
      .means = GidMeans::kIndex, .index = index, .ipv6 = false, .range = {}, .reason = "it is right on each port"};
  if (index && pin) return by_index;
  if (EndsRight(ports, GidSteering{})) {
    out.means = GidMeans::kAutomatic;
    out.reason = index ? "NCCL's own choice (2.21 and later) is right on each port"
                       : "the right index differs between the selected ports and one number serves all; NCCL's own "
                         "choice for each port (2.21 and later) is right";
    return out;
  }
  if (auto address = ByAddress(ports)) return *std::move(address);
  if (index) return by_index;
  out.means = GidMeans::kNone;
  out.reason =
      "the right index differs between the selected ports, and no one index, family or range brings NCCL to all of "
      "them; equal order of addresses on the ports would";
  return out;
}

}  // namespace nccl_tune::policy
