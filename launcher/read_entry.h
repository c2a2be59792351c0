// SPDX-License-Identifier: Apache-2.0
//
// This node's entry, from the task's environment, the plan in it and the machine below a root. A few milliseconds: what
// would take longer (a version inside a library, the node's name in DNS) is not looked for.
#ifndef NCCL_TUNE_LAUNCHER_READ_ENTRY_H_
#define NCCL_TUNE_LAUNCHER_READ_ENTRY_H_

#include "base/environment.h"
#include "core/facts/node.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"
#include "launcher/node_entry.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

struct OwnNode {
  NodeEntry entry;   // without address and port
  facts::Node node;  // for ApplyAgreement, whose way back needs `address` (hw/local_address.h): unknown here
};

// Never fails: what cannot be read is unknown. `environment`: of the node's first task. A plan that cannot be read
// counts as none.
OwnNode ReadOwnNode(const hw::Tree& tree, const hw::IpFacts& ip, const pmix::Step& step,
                    const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_READ_ENTRY_H_
