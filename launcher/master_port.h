// SPDX-License-Identifier: Apache-2.0
//
// Which port rank 0 offers to the others.
#ifndef NCCL_TUNE_LAUNCHER_MASTER_PORT_H_
#define NCCL_TUNE_LAUNCHER_MASTER_PORT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "hw/tree.h"
#include "launcher/port_claim.h"
#include "launcher/rank_facts.h"

namespace nccl_tune::launcher {

struct MasterPort {
  std::uint16_t port = 0;
  PortClaim claim{};      // empty where the user has set MASTER_PORT: that is neither claimed nor looked at
  std::string warning{};  // what the user should know, to be printed once; empty: nothing
};

// The user's MASTER_PORT where it stays, else one of the range in the environment. Called by rank 0 alone. `root` is
// the machine's. An Error says what to do.
base::Result<MasterPort> FindMasterPort(const RankFacts& facts, const base::Environment& environment,
                                        const hw::Tree& root, uid_t user, AtExec at_exec);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_MASTER_PORT_H_
