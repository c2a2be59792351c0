// SPDX-License-Identifier: Apache-2.0
//
// Text of PCI, driver and module files to values. Text in, value out; no paths, no I/O. Forms as the kernel, OFED and
// NVIDIA's driver write them. A trailing line end is allowed. An inner optional is empty where the file itself says
// that it does not know, which is no error.
#ifndef NCCL_TUNE_HW_PCI_TEXT_H_
#define NCCL_TUNE_HW_PCI_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/facts/node_details.h"

namespace nccl_tune::hw {

// "32.0 GT/s PCIe", "8 GT/s" -> GT/s; "Unknown", "Unknown speed" -> nothing.
base::Result<std::optional<double>> ParseLinkSpeed(std::string_view text);
// "16" -> 16; 0, and 63 and 255 of a device that does not answer -> nothing.
base::Result<std::optional<int>> ParseLinkWidth(std::string_view text);

// iommu_groups/N/type: "identity", "DMA", "DMA-FQ", "DMA-SQ"; any other word is kOther. Empty text is refused.
base::Result<facts::IommuMode> ParseIommuType(std::string_view text);

// OFED's traffic_class: a line "Global tclass=106" among others -> 106; without one -> nothing.
base::Result<std::optional<int>> ParseTrafficClass(std::string_view text);

// A kernel module's switch: "Y" or "N".
base::Result<bool> ParseModuleSwitch(std::string_view text);

struct NvidiaDriver {
  std::string version;  // "570.86.15"
  bool open = false;    // "Open Kernel Module"
};
// proc/driver/nvidia/version, by its first line.
base::Result<NvidiaDriver> ParseNvidiaDriver(std::string_view text);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_PCI_TEXT_H_
