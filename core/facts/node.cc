// SPDX-License-Identifier: Apache-2.0
#include "core/facts/node.h"

#include <algorithm>

namespace nccl_tune::facts {

std::vector<int> Dcb::LosslessPriorities() const {
  constexpr int kPriorities = 8;
  std::vector<int> out;
  for (int i = 0; i < kPriorities; ++i) {
    if ((pfc >> i & 1) != 0) out.push_back(i);
  }
  return out;
}

const Netdev* Node::FindNetdev(const std::string& name) const {
  const auto found = std::find_if(netdevs.begin(), netdevs.end(), [&](const Netdev& n) { return n.name == name; });
  return found == netdevs.end() ? nullptr : &*found;
}

}  // namespace nccl_tune::facts
