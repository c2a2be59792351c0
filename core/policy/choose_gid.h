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

// The RoCE v2 entry with a routable address of an interface of this network namespace; IPv4 before IPv6, the port's own
// interface before one above it (a VLAN), then the lowest index. The error says what is missing, in one clause. The
// result points into `port`.
base::Result<const facts::Gid*> ChooseGid(const facts::Node& node, const facts::IbPort& port);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_CHOOSE_GID_H_
