// SPDX-License-Identifier: Apache-2.0
//
// Networks that come with an NCCL plugin of their own: recognised by their drivers, left to the plugin, and said so.
// Nothing is decided here.
#ifndef NCCL_TUNE_CORE_POLICY_TRANSPORTS_H_
#define NCCL_TUNE_CORE_POLICY_TRANSPORTS_H_

#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/decision.h"

namespace nccl_tune::policy {

struct Transport {
  std::string name;
  Evidence evidence;
  std::string what;  // who owns its settings, and what happens without the plugin
};

// By name. Source of the rules: the vendors' pages for aws-ofi-nccl, Google's GPUDirect and gIB, and HPE Slingshot.
std::vector<Transport> RecognizeTransports(const facts::Node& node);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_TRANSPORTS_H_
