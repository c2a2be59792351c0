// SPDX-License-Identifier: Apache-2.0
//
// Network interfaces: sys/class/net joined with addresses.
#ifndef NCCL_TUNE_HW_READ_NETDEVS_H_
#define NCCL_TUNE_HW_READ_NETDEVS_H_

#include <vector>

#include "core/facts/node.h"
#include "hw/ip_facts.h"
#include "hw/read_device.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Every interface that sysfs knows, by ifindex; one that only `ip` knows is noted. Never fails; what cannot be read is
// unknown and noted.
std::vector<facts::Netdev> ReadNetdevs(const Tree& tree, const std::vector<InterfaceFacts>& interfaces,
                                       DeviceReader* devices, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_NETDEVS_H_
