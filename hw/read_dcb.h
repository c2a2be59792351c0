// SPDX-License-Identifier: Apache-2.0
//
// What keeps RoCE traffic from being dropped: DCB of the interfaces that RoCE ports have, and what may override it.
#ifndef NCCL_TUNE_HW_READ_DCB_H_
#define NCCL_TUNE_HW_READ_DCB_H_

#include "core/facts/node.h"
#include "hw/dcb.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Fills `dcb` of interfaces and `host_traffic_class` of ports. Asks once for each interface of an ACTIVE RoCE port that
// is no software device, and of a bond for each member; reads files only where the answer has a lossless priority.
void ReadDcb(const Tree& tree, const DcbSource& ask, facts::Node* node);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_DCB_H_
