// SPDX-License-Identifier: Apache-2.0
//
// Which GID of a RoCE port a peer can reach: by content, never by index. The index drifts with every address and link
// event, the content does not.
#ifndef NCCL_TUNE_CORE_POLICY_CHOOSE_GID_H_
#define NCCL_TUNE_CORE_POLICY_CHOOSE_GID_H_

#include <string>

#include "base/result.h"
#include "core/facts/node.h"

namespace nccl_tune::policy {

// The entry with an address of an interface of this network namespace: RoCE v2 before v1, which old cards have alone
// and which reaches the own network only; a routable address before 169.254/16, which reaches the other end of a cable;
// IPv4 before IPv6; the port's own interface before one above it (a VLAN); then the lowest index. Never fe80::/10. The
// error says what is missing, in one clause; kUnreadable where that may be for want of reading only. The result points
// into `port`.
base::Result<const facts::Gid*> ChooseGid(const facts::Node& node, const facts::IbPort& port);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_CHOOSE_GID_H_
