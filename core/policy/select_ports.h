// SPDX-License-Identifier: Apache-2.0
//
// Which RDMA ports are the node's rails, and why the others are not.
#ifndef NCCL_TUNE_CORE_POLICY_SELECT_PORTS_H_
#define NCCL_TUNE_CORE_POLICY_SELECT_PORTS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/decision.h"
#include "core/policy/port_ref.h"
#include "core/policy/site_policy.h"

namespace nccl_tune::policy {

struct PortSelection {
  std::vector<PortRef> ports;  // in the facts' order
  std::vector<Rejection> rejected;
  std::string reason;         // why these, or why none
  bool needs_plugin = false;  // an EFA device is there: its own NCCL plugin carries the traffic
  bool has_trap = false;      // a rejected port would be taken by NCCL's own defaults
  bool has_left_out = false;  // one of those works, and the site leaves it out
};

// `site` only narrows: what it leaves out is rejected with its key and line; when it lists the ports to use, no port is
// taken for the front end or for slower than a rail.
PortSelection SelectPorts(const facts::Node& node, const SitePolicy& site = {});

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_SELECT_PORTS_H_
