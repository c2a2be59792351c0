// SPDX-License-Identifier: Apache-2.0
//
// What of a node's rails must agree with the other nodes' rails, and its short text: rails that are alike are counted,
// networks that follow each other are told by the first one and the step. Names are left out: they may differ. Pure.
#ifndef NCCL_TUNE_LAUNCHER_RAILS_H_
#define NCCL_TUNE_LAUNCHER_RAILS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/env/plan.h"
#include "core/facts/ip_address.h"
#include "core/facts/node.h"

namespace nccl_tune::launcher {

inline constexpr std::size_t kMostRails = 64;    // of a node; NCCL lists 32
inline constexpr std::size_t kMostPlaces = 256;  // ports of a node

struct Rail {
  bool ethernet = false;
  std::optional<double> gbps{};
  std::optional<int> mtu{};  // bytes, of the port's interface; absent on InfiniBand
  // Address families of usable GIDs, the one in use first: "4", "6", "46", "64"; empty: unknown, or InfiniBand.
  std::string families{};
  std::optional<int> roce{};                 // version of the GID in use: 1 or 2
  std::optional<facts::IpPrefix> network{};  // of that GID's address; on InfiniBand its subnet prefix

  bool operator==(const Rail&) const = default;
};

// The ports' rails, in their order. A port that `node` does not have gives a rail with the plan's facts only.
std::vector<Rail> DescribeRails(const facts::Node& node, const std::vector<env::PlanPort>& ports);

// A letter for each port of the node's channel adapters, in the facts' order: u in use, d not ACTIVE, o another one.
// Nodes built alike have it equally long, so a place in it names the same cable on each.
std::string DescribeLayout(const facts::Node& node, const std::vector<env::PlanPort>& ports);
// The place of a port there; nothing when it has none.
std::optional<std::size_t> FindPlace(const facts::Node& node, const env::PlanPort& port);

// The right GID of the port in one family, 4 or 6; null: there is none. Points into `port`.
const facts::Gid* FindGid(const facts::Node& node, const facts::IbPort& port, int family);

// "8xE400m9000g46r2" and "172.20.0.0/24+1x8"; without rails "".
std::string EncodeKinds(const std::vector<Rail>& rails);
std::string EncodeNetworks(const std::vector<Rail>& rails);
// Fails on text that the two above do not write, and where they count differently. Without `where`.
base::Result<std::vector<Rail>> DecodeRails(std::string_view kinds, std::string_view networks);

// "8u2o" and back.
std::string EncodeLayout(std::string_view layout);
base::Result<std::string> DecodeLayout(std::string_view text);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RAILS_H_
