// SPDX-License-Identifier: Apache-2.0
//
// Where the other ranks find rank 0: the address of its bootstrap interface.
#ifndef NCCL_TUNE_LAUNCHER_RENDEZVOUS_H_
#define NCCL_TUNE_LAUNCHER_RENDEZVOUS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"

namespace nccl_tune::launcher {

// The interface that NCCL_SOCKET_IFNAME names, when it names one exactly ("=eth0").
std::optional<std::string> ExactInterface(const base::Environment& environment);

// An address of this node that other nodes may reach: neither loopback nor link-local.
struct OwnAddress {
  std::string interface;
  std::string text;
  std::string network{};  // "172.20.0.0/24"
};
// IPv4 first, each kind in the kernel's order.
std::vector<OwnAddress> ListOwnAddresses();

// The plan's address, else the first one of the exact interface, else the node's name. Only an address of `own` is
// given out: a plan may be inherited from a step on another node, and what a variable holds is text until then.
std::string BootstrapAddress(const base::Environment& environment, const std::vector<OwnAddress>& own,
                             const std::string& node);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RENDEZVOUS_H_
