// SPDX-License-Identifier: Apache-2.0
//
// Which variables of launcher/rank_catalog.h a rank gets. Pure: facts and the user's environment in, additions out.
//
// What the user has set stays, except values that an outer launcher left behind and a nested step inherited. They are
// told apart by the marker NCCL_TUNE_LAUNCH, which nccl-launch sets to JOB.STEP, and, for other launchers, by a whole
// set: RANK, LOCAL_RANK and WORLD_SIZE of torchrun where they do not fit this task or TORCHELASTIC_RUN_ID is beside
// them, the three of OMPI_COMM_WORLD_* of mpirun where they do not fit. A lone variable is always the user's.
#ifndef NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_
#define NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "launcher/rank_facts.h"

namespace nccl_tune::launcher {

struct Additions {
  base::Environment set;           // to set, over what is there
  std::vector<std::string> unset;  // an outer launcher's that mean nothing here
  std::vector<std::string> kept;   // the user's, each "NAME=VALUE"
  bool inherited = false;          // an outer launcher's values were replaced
};

Additions DecideAdditions(const RankFacts& facts, const base::Environment& user);

// Takes away and sets what was decided.
void Apply(const Additions& additions, base::Environment* environment);

// Whether the variable is set and stays. Asks nothing of the facts but what a task knows before the exchange: address
// and port of rank 0 may be missing.
bool StaysTheUsers(const RankFacts& facts, const base::Environment& user, std::string_view name);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_
