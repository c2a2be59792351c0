// SPDX-License-Identifier: Apache-2.0
//
// Two facts from a PCI function's configuration space, the bytes of its sysfs file "config". An ordinary user gets 64
// bytes of it, which hold neither: then they are unknown. Offsets and bits: PCI Express base specification, device
// control in the PCI Express capability (id 10h) and the ACS extended capability (id 0dh).
#ifndef NCCL_TUNE_HW_PCI_CONFIG_H_
#define NCCL_TUNE_HW_PCI_CONFIG_H_

#include <string_view>

#include "core/facts/node_details.h"

namespace nccl_tune::hw {

// Whether the device may order its writes as it likes (device control, bit 4).
facts::Tristate RelaxedOrderingOf(std::string_view config);

// Whether the bridge sends traffic between its own children up: request or completion redirect or upstream forwarding.
// No for a bridge whose whole space was read and that has no such capability.
facts::Tristate AcsRedirectOf(std::string_view config);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_PCI_CONFIG_H_
