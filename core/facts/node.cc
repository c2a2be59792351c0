// SPDX-License-Identifier: Apache-2.0
#include "core/facts/node.h"

#include <algorithm>

namespace nccl_tune::facts {

const Netdev* Node::FindNetdev(const std::string& name) const {
  const auto found = std::find_if(netdevs.begin(), netdevs.end(), [&](const Netdev& n) { return n.name == name; });
  return found == netdevs.end() ? nullptr : &*found;
}

}  // namespace nccl_tune::facts
