// SPDX-License-Identifier: Apache-2.0
//
// Text of sysfs attributes to values. Text in, value out; no paths, no I/O. Forms as the kernel writes them
// (Documentation/ABI/stable/sysfs-class-infiniband, testing/sysfs-class-net). A trailing line end is allowed.
#ifndef NCCL_TUNE_HW_SYSFS_TEXT_H_
#define NCCL_TUNE_HW_SYSFS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"

namespace nccl_tune::hw {

// "4: ACTIVE" -> kActive; by the number, unknown numbers are kOther.
base::Result<facts::PortState> ParsePortState(std::string_view text);
// "5: LinkUp" -> "LinkUp".
base::Result<std::string> ParsePhysicalState(std::string_view text);
// "InfiniBand", "Ethernet"; anything else is kOther.
facts::LinkLayer ParseLinkLayer(std::string_view text);
// "100 Gb/sec (4X EDR)" -> 100. Zero is refused: no port runs at that.
base::Result<facts::GbitPerSecond> ParseRate(std::string_view text);
// "IB/RoCE v1", "RoCE v2".
base::Result<facts::RoceVersion> ParseRoceVersion(std::string_view text);
// "1: CA" -> kChannelAdapter, "4: RNIC" -> kRnic; other numbers are kOther.
base::Result<facts::NodeType> ParseNodeType(std::string_view text);
// "0x12" or "18".
base::Result<std::uint32_t> ParseLid(std::string_view text);
// "0x8001", as IPoIB interfaces have it; 16 bits.
base::Result<std::uint32_t> ParsePkey(std::string_view text);

struct VlanRow {
  std::string name;
  int id = 0;
  std::string parent;
};
// Rows of proc/net/vlan/config, "eth0.100 | 100 | eth0", after its two lines of heading. Other lines are left out.
std::vector<VlanRow> ParseVlanConfig(std::string_view text);

// The PCI functions that a path below sys/devices passes, from the root port down.
std::vector<facts::PciAddress> PciFunctionsOf(std::string_view device_path);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_SYSFS_TEXT_H_
