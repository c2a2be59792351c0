// SPDX-License-Identifier: Apache-2.0
//
// This node's address in Slurm, as far as the node itself can tell: what its own name stands for, when one of its own
// interfaces has that address.
#ifndef NCCL_TUNE_HW_LOCAL_ADDRESS_H_
#define NCCL_TUNE_HW_LOCAL_ADDRESS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "hw/ip_facts.h"

namespace nccl_tune::hw {

// This machine's host name; empty when it cannot be had.
std::string OwnHostName();

// Looks `name` up once, through the system's resolver: that can take as long as the site's DNS does, so a caller inside
// slurmstepd does it in a child with a deadline. Nothing when the name is unknown, loopback, or another machine's.
std::optional<facts::IpAddress> FindNodeAddress(const std::string& name, const std::vector<InterfaceFacts>& interfaces);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_LOCAL_ADDRESS_H_
