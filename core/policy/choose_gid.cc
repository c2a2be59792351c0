// SPDX-License-Identifier: Apache-2.0
#include "core/policy/choose_gid.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace nccl_tune::policy {
namespace {

bool HasAddress(const facts::Netdev& netdev, const facts::IpAddress& address) {
  return std::any_of(netdev.addresses.begin(), netdev.addresses.end(),
                     [&](const facts::InterfaceAddress& a) { return a.prefix.address == address; });
}

// The interface in this namespace that the entry belongs to; null: another namespace's. Where the kernel does not tell
// the interface, the address itself does.
const facts::Netdev* OwnerOf(const facts::Node& node, const facts::Gid& gid) {
  if (gid.netdev) return node.FindNetdev(*gid.netdev);
  const auto found = std::find_if(node.netdevs.begin(), node.netdevs.end(),
                                  [&](const facts::Netdev& n) { return HasAddress(n, gid.address); });
  return found == node.netdevs.end() ? nullptr : &*found;
}

struct Tally {
  int no_version = 0;
  int foreign = 0;
  int down = 0;
};

std::string Missing(const facts::IbPort& port, const Tally& tally) {
  if (port.gids_in_doubt) return "its GID table could not be read in full";
  if (port.gids.empty()) return "its GID table is empty in this network namespace";
  if (tally.down > 0) return "the interface of its only routable GID is down";
  if (tally.foreign > 0) return "its routable GIDs belong to another network namespace";
  if (tally.no_version > 0) return "the RoCE version of its routable GID cannot be read";
  return "it has link-local GIDs only, which do not leave the link: its interface has no address";
}

}  // namespace

base::Result<const facts::Gid*> ChooseGid(const facts::Node& node, const facts::IbPort& port) {
  // RoCE v1, link-local IPv4, IPv6, not the port's own interface, index: lowest first.
  using Rank = std::tuple<bool, bool, bool, bool, int>;
  const facts::Gid* best = nullptr;
  Rank best_rank;
  Tally tally;
  for (const auto& gid : port.gids) {
    constexpr int kLargestIndex = 255;  // ibv_ah_attr.grh.sgid_index has 8 bits
    const bool local = gid.address.IsV4() && gid.address.IsLinkLocal();
    if (gid.index > kLargestIndex || (!gid.address.IsRoutable() && !local)) continue;
    if (!gid.version) {
      ++tally.no_version;
      continue;
    }
    const facts::Netdev* owner = OwnerOf(node, gid);
    if (owner == nullptr || !owner->running) {
      ++(owner == nullptr ? tally.foreign : tally.down);
      continue;
    }
    const Rank rank{gid.version != facts::RoceVersion::kV2, local, !gid.address.IsV4(), owner->name != port.netdev,
                    gid.index};
    if (best == nullptr || rank < best_rank) {
      best = &gid;
      best_rank = rank;
    }
  }
  if (best == nullptr) {
    const auto code = port.gids_in_doubt ? base::Code::kUnreadable : base::Code::kNotFound;
    return base::Error{.code = code, .what = Missing(port, tally)};
  }
  return best;
}

}  // namespace nccl_tune::policy
