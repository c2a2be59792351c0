// SPDX-License-Identifier: Apache-2.0
//
// The ports that the kernel gives to connections by itself (net.ipv4.ip_local_port_range, for IPv6 too).
#ifndef NCCL_TUNE_HW_LOCAL_PORTS_H_
#define NCCL_TUNE_HW_LOCAL_PORTS_H_

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Both ends included.
struct LocalPorts {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

// "32768\t60999\n"; kInvalidInput for anything else.
base::Result<LocalPorts> ParseLocalPorts(std::string_view text);

// Of the network namespace of the caller. The tree's errors where there is no such file.
base::Result<LocalPorts> ReadLocalPorts(const Tree& tree);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_LOCAL_PORTS_H_
