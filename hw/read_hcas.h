// SPDX-License-Identifier: Apache-2.0
//
// RDMA devices from sys/class/infiniband and sys/class/infiniband_verbs.
#ifndef NCCL_TUNE_HW_READ_HCAS_H_
#define NCCL_TUNE_HW_READ_HCAS_H_

#include <vector>

#include "core/facts/node.h"
#include "hw/read_device.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Every device, also those that nothing should use: leaving out is a decision. Never fails; what cannot be read is left
// unknown and noted. Of a port that is not ACTIVE only its state is read, of an empty GID slot only the GID.
std::vector<facts::Hca> ReadHcas(const Tree& tree, DeviceReader* devices, std::vector<facts::Note>* notes);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_HCAS_H_
