// SPDX-License-Identifier: Apache-2.0
//
// Everything about one node, from one tree.
#ifndef NCCL_TUNE_HW_READ_NODE_H_
#define NCCL_TUNE_HW_READ_NODE_H_

#include <optional>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Fails only when the tree is no machine at all: neither network interfaces nor RDMA devices below sys/class.
// Facts that could not be read are unknown, with a note each.
base::Result<facts::Node> ReadNode(const Tree& tree, const IpFacts& ip, std::optional<facts::IpAddress> node_address);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_NODE_H_
