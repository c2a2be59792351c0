// SPDX-License-Identifier: Apache-2.0
//
// GPUs from sys/bus/pci/devices, by PCI class and vendor: no driver and no vendor library is asked.
#ifndef NCCL_TUNE_HW_READ_GPUS_H_
#define NCCL_TUNE_HW_READ_GPUS_H_

#include <vector>

#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Sorted by PCI address. Never fails; what cannot be read is noted.
std::vector<facts::Gpu> ReadGpus(const Tree& tree, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_GPUS_H_
