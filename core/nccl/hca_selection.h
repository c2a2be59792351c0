// SPDX-License-Identifier: Apache-2.0
//
// Which HCA ports NCCL's own IB transport takes, with the reason for each one that it leaves out. A model of NCCL 2.18
// to 2.32; it says what will happen, not what would be right.
#ifndef NCCL_TUNE_CORE_NCCL_HCA_SELECTION_H_
#define NCCL_TUNE_CORE_NCCL_HCA_SELECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/facts/node.h"
#include "core/nccl/environment.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

enum class PortVerdict {
  kTaken,
  kTransportOff,    // see HcaSelection::transport_off
  kCannotOpen,      // no uverbs node, or not for this user
  kNotActive,       // or its state cannot be read
  kOtherLinkLayer,  // neither InfiniBand nor Ethernet: EFA and its like
  kNotInList,       // NCCL_IB_HCA does not name it, or excludes it
  kTooMany,         // 32 were taken before it
};

struct JudgedPort {
  std::string hca;
  int port = 0;
  PortVerdict verdict = PortVerdict::kTaken;
};

struct HcaSelection {
  std::vector<JudgedPort> ports;  // every port of the node, in the node's order
  std::string transport_off;      // why the IB transport is not used at all; empty when it is

  std::vector<JudgedPort> Taken() const;
};

// One clause for explain: "its port is not active".
std::string_view Explain(PortVerdict verdict);

// Reads NCCL_IB_DISABLE, NCCL_NET and NCCL_IB_HCA, and the variables of OrderInterfaces, without which the transport
// does not start. A device whose uverbs node was not looked at counts as openable. A net plugin is not considered. Of
// more than 32 ports NCCL takes the first in the order in which the kernel registered their devices, which is that of
// the uverbs nodes; the order by PCI address (2.29.7) comes after that.
HcaSelection SelectHcas(const facts::Node& node, NcclVersion version, const Environment& environment);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_HCA_SELECTION_H_
