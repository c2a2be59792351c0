// SPDX-License-Identifier: Apache-2.0
//
// This node's plan, made in a child within a deadline. Knows no Slurm.
#ifndef NCCL_TUNE_SPANK_NODE_PLAN_H_
#define NCCL_TUNE_SPANK_NODE_PLAN_H_

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/env/plan.h"
#include "spank/mode.h"

namespace nccl_tune::spank {

struct Wish {
  std::optional<Mode> mode;  // the job's own; absent: it says nothing
  Mode fallback;             // for such a job, where the site's policy says nothing either
  std::string policy;        // the site's policy, an absolute path
  std::string slurm_conf{};  // path of slurm.conf as Slurm's own processes have it, not the job; empty: the usual ones
};

struct NodePlan {
  Mode mode;                 // what holds. Inactive: the site's policy turns the tool off, and there is no plan
  std::string json;          // for NCCL_TUNE_PLAN
  env::PlanSummary summary;  // the same, parsed
  std::string warning;       // a line for the log: a policy that is ignored; empty: none
  std::string explanation;   // text for the user; empty unless asked for
};

// `user`: the job's environment. The policy and the facts are those of the live machine, read as the effective user.
base::Result<NodePlan> MakeNodePlan(const env::Environment& user, const Wish& wish, std::chrono::milliseconds deadline);

// Where a site's policy is, if nothing else is said.
std::string UsualPolicy();

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_NODE_PLAN_H_
