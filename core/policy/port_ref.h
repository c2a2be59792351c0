// SPDX-License-Identifier: Apache-2.0
//
// One RDMA port of a node, with what was chosen on it.
#ifndef NCCL_TUNE_CORE_POLICY_PORT_REF_H_
#define NCCL_TUNE_CORE_POLICY_PORT_REF_H_

#include <string>

#include "core/facts/node.h"

namespace nccl_tune::policy {

// A port of a node. Points into the facts it was made from, which must outlive it.
struct PortRef {
  const facts::Hca* hca = nullptr;
  const facts::IbPort* port = nullptr;
  const facts::Gid* gid = nullptr;  // the right one on Ethernet, null on InfiniBand

  // "mlx5_2:1"
  std::string Name() const { return hca->name + ":" + std::to_string(port->number); }
  bool IsEthernet() const { return port->link_layer == facts::LinkLayer::kEthernet; }
  double Gbps() const { return port->rate ? port->rate->value : 0; }
};

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_PORT_REF_H_
