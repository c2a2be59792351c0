// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's driver says of itself and of the first GPU below proc/driver/nvidia: two small files, so also in a
// job's way.
#ifndef NCCL_TUNE_HW_READ_GPU_DRIVER_H_
#define NCCL_TUNE_HW_READ_GPU_DRIVER_H_

#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

struct GpuDriver {
  std::optional<std::string> version;  // "570.86.15"
  std::optional<std::string> model;    // "NVIDIA H200", of the first GPU by address
};

// Never fails. Absent files are normal; what else goes wrong is noted.
GpuDriver ReadGpuDriver(const Tree& tree, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_GPU_DRIVER_H_
