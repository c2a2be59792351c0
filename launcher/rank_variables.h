// SPDX-License-Identifier: Apache-2.0
//
// The variables that distributed programs read to find their rank and rank 0. Pure: facts and the user's environment
// in, additions out.
//
// What the user has set stays, except values that an outer launcher left behind and a nested step inherited. They are
// told apart by the marker NCCL_TUNE_LAUNCH, which nccl-launch sets to JOB.STEP, and, for other launchers (torchrun),
// by a whole set of RANK, LOCAL_RANK and WORLD_SIZE that does not fit this task. A lone variable is always the user's.
#ifndef NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_
#define NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

struct RankFacts {
  pmix::Step step{};
  std::uint32_t size = 0;  // ranks, from PMIx
  std::string master_address{};
  std::uint16_t master_port = 0;
};

struct Additions {
  base::Environment set;          // to set, over what is there
  std::vector<std::string> kept;  // the user's, each "NAME=VALUE"
  bool inherited = false;         // an outer launcher's values were replaced
};

Additions DecideAdditions(const RankFacts& facts, const base::Environment& user);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_VARIABLES_H_
