// SPDX-License-Identifier: Apache-2.0
//
// The one interface over which the ranks of all nodes find each other (NCCL_SOCKET_IFNAME): exactly one name, reachable
// from every node. First that applies: the site's policy, the transport's own rule, the interface of the selected rail
// where local evidence says that all nodes meet on it, the interface of the node's address in Slurm, the default
// route's, the only one left.
#ifndef NCCL_TUNE_CORE_POLICY_CHOOSE_BOOTSTRAP_H_
#define NCCL_TUNE_CORE_POLICY_CHOOSE_BOOTSTRAP_H_

#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/decision.h"
#include "core/policy/select_ports.h"
#include "core/policy/site_policy.h"

namespace nccl_tune::policy {

struct Bootstrap {
  const facts::Netdev* netdev = nullptr;  // null: none is certain
  std::string reason;
  std::string others{};   // why not an interface that would serve as well
  bool inferred = false;  // local evidence only; the launcher's preflight proves it
  std::vector<Evidence> evidence;
  std::vector<Rejection> rejected;

  // Its first routable address, as NCCL takes it; null when there is none.
  const facts::InterfaceAddress* Address() const;
};

Bootstrap ChooseBootstrap(const facts::Node& node, const PortSelection& selection, const SitePolicy& site = {});

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_CHOOSE_BOOTSTRAP_H_
