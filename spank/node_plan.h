// SPDX-License-Identifier: Apache-2.0
//
// This node's plan, made in a child within a deadline. Knows no Slurm.
#ifndef NCCL_TUNE_SPANK_NODE_PLAN_H_
#define NCCL_TUNE_SPANK_NODE_PLAN_H_

#include <chrono>
#include <string>

#include "base/result.h"
#include "core/env/plan.h"

namespace nccl_tune::spank {

struct NodePlan {
  std::string json;          // for NCCL_TUNE_PLAN
  env::PlanSummary summary;  // the same, parsed
  std::string explanation;   // text for the user; empty unless asked for
};

// `user`: the NCCL variables of the job's environment. Facts come from the live machine, read as the effective user.
base::Result<NodePlan> MakeNodePlan(const env::Environment& user, bool explain, std::chrono::milliseconds deadline);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_NODE_PLAN_H_
