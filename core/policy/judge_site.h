// SPDX-License-Identifier: Apache-2.0
//
// What a site's policy says about one port or interface of a node. It only narrows and names: whether a port works is
// for detection to say. Reasons name the key and line of the policy.
#ifndef NCCL_TUNE_CORE_POLICY_JUDGE_SITE_H_
#define NCCL_TUNE_CORE_POLICY_JUDGE_SITE_H_

#include <optional>
#include <string>

#include "core/facts/node.h"
#include "core/policy/decision.h"
#include "core/policy/site_policy.h"

namespace nccl_tune::policy {

struct SiteVerdict {
  std::optional<Rejection> rejected;  // the policy does not let it be used
  bool included = false;              // an entry of `include` names it; never with `rejected`
  std::string why;                    // for `included`: the entry
};

// An entry of devices.exclude that matches rejects, before any include. With a devices.include that is not empty, what
// no entry matches is rejected. A part of an entry that needs an unknown fact does not match.
SiteVerdict JudgeDevice(const SitePolicy& policy, const facts::Hca& hca, const facts::IbPort& port,
                        const facts::Node& node);

// The same with interfaces.exclude and interfaces.include. Loopback is never touched.
SiteVerdict JudgeInterface(const SitePolicy& policy, const facts::Netdev& netdev);

// The interface for NCCL_SOCKET_IFNAME that the key `bootstrap` names.
struct SiteBootstrap {
  const facts::Netdev* netdev = nullptr;  // of the node's facts; null: none fits, `reason` says why
  std::string reason;
};

// Absent when the policy has no such key. The interface must be up and have a routable address; of several in the
// network that are not left out, the first one by interface number.
std::optional<SiteBootstrap> FindSiteBootstrap(const SitePolicy& policy, const facts::Node& node);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_JUDGE_SITE_H_
