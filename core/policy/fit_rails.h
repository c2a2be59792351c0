// SPDX-License-Identifier: Apache-2.0
//
// Rails and GPUs: a vendor gives every GPU as many rails, or every rail as many GPUs. Where the usable ports do not fit
// the GPUs and some would without the others, the place of a port tells which those are.
#ifndef NCCL_TUNE_CORE_POLICY_FIT_RAILS_H_
#define NCCL_TUNE_CORE_POLICY_FIT_RAILS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/port_ref.h"

namespace nccl_tune::policy {

// Ports and GPUs divide evenly, one way or the other.
bool Fits(std::size_t ports, std::size_t gpus);

// Whether `ref`, which carries the node's own traffic, is a rail all the same: without it the rails do not fit the GPUs
// and with it they do, or one of the two legs of a cable would go.
bool IsRailAllTheSame(const facts::Node& node, const std::vector<PortRef>& ports, const PortRef& ref);

// The ports that a rail's place tells from the others, where it makes the rest fit: a list as long as `ports` with the
// reason of each that goes and "" for the others. Empty: all stay.
// `front_end` tells why a port is the node's front end, or "".
using WhyFrontEnd = std::string (*)(const facts::Node&, const PortRef&);
std::vector<std::string> WhyNoRail(const facts::Node& node, const std::vector<PortRef>& ports, WhyFrontEnd front_end);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_FIT_RAILS_H_
