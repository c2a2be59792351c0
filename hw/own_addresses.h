// SPDX-License-Identifier: Apache-2.0
//
// Addresses at which other hosts may reach this one.
#ifndef NCCL_TUNE_HW_OWN_ADDRESSES_H_
#define NCCL_TUNE_HW_OWN_ADDRESSES_H_

#include <vector>

#include "core/facts/ip_address.h"

namespace nccl_tune::hw {

// Routable addresses of this process's interfaces that are up, IPv4 first, else in the kernel's order. Not those of
// bridges: docker0 has the same on every host.
std::vector<facts::IpAddress> OwnAddresses();

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_OWN_ADDRESSES_H_
