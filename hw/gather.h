// SPDX-License-Identifier: Apache-2.0
//
// Makes a scrubbed capture of a machine: what detection reads, and what it may want to read one day.
#ifndef NCCL_TUNE_HW_GATHER_H_
#define NCCL_TUNE_HW_GATHER_H_

#include <optional>
#include <string>

#include "core/facts/ip_address.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Never fails: what cannot be read is left out, as it is on the machine. Holds no serial number, MAC address, GUID,
// public address or host name.
Capture Gather(const Tree& tree, const IpFacts& ip, std::optional<facts::IpAddress> node_address);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_GATHER_H_
