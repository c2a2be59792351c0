// SPDX-License-Identifier: Apache-2.0
//
// What is shown of a node and decides nothing. Never called in a job's way: some of it is slow to read (configuration
// space) and all of it costs files.
#ifndef NCCL_TUNE_HW_READ_DETAILS_H_
#define NCCL_TUNE_HW_READ_DETAILS_H_

#include <optional>

#include "core/facts/node.h"
#include "core/facts/node_details.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Details of the devices in `node`, which was read from the same tree. `locked_memory`: the limit of the process that
// asks (hw/locked_memory.h) when the tree is the live machine, else nothing. Never fails; what cannot be read is
// unknown, and noted where it should have been there. Looks at no more than 512 functions and 128 bridges.
facts::NodeDetails ReadDetails(const Tree& tree, const facts::Node& node,
                               std::optional<facts::LockedMemory> locked_memory);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_DETAILS_H_
