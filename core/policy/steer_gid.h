// SPDX-License-Identifier: Apache-2.0
//
// How to bring NCCL to the right GID of every selected RoCE port: by index where one number is right on all of them,
// else by address, and only where the model of NCCL proves that it ends at the right entries.
#ifndef NCCL_TUNE_CORE_POLICY_STEER_GID_H_
#define NCCL_TUNE_CORE_POLICY_STEER_GID_H_

#include <optional>
#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/policy/select_ports.h"

namespace nccl_tune::policy {

enum class GidMeans {
  kNotNeeded,  // no RoCE port is selected
  kIndex,      // NCCL_IB_GID_INDEX
  kAutomatic,  // NCCL's own choice is right on each port
  kAddress,    // NCCL_IB_ADDR_FAMILY, NCCL_IB_ADDR_RANGE or both
  kNone,       // nothing that holds for all ports at once brings NCCL there
};

struct GidSteering {
  GidMeans means = GidMeans::kNotNeeded;
  std::optional<int> index;              // with kIndex
  bool ipv6 = false;                     // with kAddress: the family must be AF_INET6
  std::optional<facts::IpPrefix> range;  // with kAddress
  std::string reason;                    // one clause
};

// `pin`: prefer the index. Without it an index is the last resort.
GidSteering SteerGid(const std::vector<PortRef>& ports, bool pin);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_STEER_GID_H_
