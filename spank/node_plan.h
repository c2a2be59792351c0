// SPDX-License-Identifier: Apache-2.0
//
// This node's plan, made in a child within a deadline. Knows no Slurm.
#ifndef NCCL_TUNE_SPANK_NODE_PLAN_H_
#define NCCL_TUNE_SPANK_NODE_PLAN_H_

#include <chrono>
#include <string>

#include "base/result.h"
#include "core/env/plan.h"
#include "spank/detect.h"

namespace nccl_tune::spank {

struct MadePlan {
  NodePlan plan;
  env::PlanSummary summary;  // of plan.json; empty where the plan is inactive
  bool is_reported = false;  // srun has the explanation and prints it
};

// `user`: the job's environment. The policy and the facts are those of the live machine, read as the effective user.
base::Result<MadePlan> MakeNodePlan(const env::Environment& user, const Wish& wish, std::chrono::milliseconds deadline);

// Where a site's policy is, if nothing else is said.
std::string UsualPolicy();

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_NODE_PLAN_H_
