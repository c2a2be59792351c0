// SPDX-License-Identifier: Apache-2.0
//
// The traffic class in which no RoCE packet is dropped, where what the host's own interfaces say proves that there is
// just one: PFC is on for one and the same priority of every port, and one DSCP leads to it. What switches do is not
// seen from here; they are set up for the same class, or the host's setting would be of no use.
//
// A traffic class is DSCP x 4 and two ECN bits. 2 there says ECT(0): a switch under load marks the packet, and the
// sender slows down, where it would drop a packet without the bits. Drivers with congestion control set the bits
// themselves, so they change nothing there. Threads: plain values.
#ifndef NCCL_TUNE_CORE_POLICY_LOSSLESS_CLASS_H_
#define NCCL_TUNE_CORE_POLICY_LOSSLESS_CLASS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/decision.h"
#include "core/policy/port_ref.h"

namespace nccl_tune::policy {

struct LosslessClass {
  bool any = false;         // some priority of some port is lossless; without it there is nothing to say
  std::optional<int> dscp;  // the proved one
  std::string reason;       // one clause: why it is proved, or why not
  std::vector<Evidence> evidence;
  std::vector<Rejection> rejected;  // values of NCCL_IB_TC that would be possible, where none is proved
};

// 26 -> 106
int TrafficClassOf(int dscp);

// Nothing on InfiniBand.
LosslessClass FindLosslessClass(const facts::Node& node, const std::vector<PortRef>& ports);

// What speaks against sending with `dscp` over these ports, one clause; empty: nothing that is known.
std::string WhyNotLossless(const facts::Node& node, const std::vector<PortRef>& ports, int dscp);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_LOSSLESS_CLASS_H_
