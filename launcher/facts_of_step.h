// SPDX-License-Identifier: Apache-2.0
//
// The facts of the one rank that a task of a Slurm step is. Pure.
#ifndef NCCL_TUNE_LAUNCHER_FACTS_OF_STEP_H_
#define NCCL_TUNE_LAUNCHER_FACTS_OF_STEP_H_

#include "base/environment.h"
#include "base/result.h"
#include "launcher/rank_facts.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {

// Without address and port of rank 0. Fails on a SLURM_RESTART_COUNT that is no number; absent is 0.
base::Result<RankFacts> FactsOfStep(const pmix::Step& step, const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_FACTS_OF_STEP_H_
