// SPDX-License-Identifier: Apache-2.0
//
// The rules, one function each; the table in decide.cc names them. Each returns a decision whose `variable` the caller
// fills in.
#ifndef NCCL_TUNE_CORE_POLICY_RULES_H_
#define NCCL_TUNE_CORE_POLICY_RULES_H_

#include "core/policy/decision.h"
#include "core/policy/situation.h"

namespace nccl_tune::policy {

// The verbs transport (rules_ib.cc).
Decision IbDisable(const Situation& s);
Decision IbHca(const Situation& s);
Decision IbGidIndex(const Situation& s);
Decision IbAddressFamily(const Situation& s);
Decision IbAddressRange(const Situation& s);
Decision IbQueuePairs(const Situation& s);
Decision IbTrafficClass(const Situation& s);
Decision IbFifoTrafficClass(const Situation& s);
Decision Net(const Situation& s);
Decision CrossNic(const Situation& s);

// Sockets, and the variables of other libraries that must agree (rules_sockets.cc).
Decision SocketIfname(const Situation& s);
Decision GlooIfname(const Situation& s);
Decision TensorPipeIfname(const Situation& s);
Decision NvshmemHcas(const Situation& s);
Decision NvshmemGidIndex(const Situation& s);
Decision NvshmemAddressFamily(const Situation& s);
Decision NvshmemAddressRange(const Situation& s);
Decision UcxDevices(const Situation& s);
Decision OpenMpiInclude(const Situation& s);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_RULES_H_
