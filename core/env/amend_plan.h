// SPDX-License-Identifier: Apache-2.0
//
// What is left of a plan where a task begins: a container image or another plugin may have set variables since the plan
// was made. Those stay, and NCCL_TUNE_PLAN must not call them ours.
//
// Threads: pure functions. Errors: none; what is no plan stays as it is.
#ifndef NCCL_TUNE_CORE_ENV_AMEND_PLAN_H_
#define NCCL_TUNE_CORE_ENV_AMEND_PLAN_H_

#include <set>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "core/env/plan.h"

namespace nccl_tune::env {

struct Amendment {
  Environment set;                 // what to set: the plan's, as far as it is still right
  Environment kept;                // what has come up since, of the variables that rules look at
  std::set<std::string> left_out;  // of the plan's: goes with one of those, and is left unset

  bool IsEmpty() const { return kept.empty() && left_out.empty(); }
};

// `before`: the environment that the plan was made from, without what an outer step of ours set. `now` tells a
// variable's value at this moment, when what the option forces and removes has been done already.
Amendment AmendPlan(const PlanSummary& plan, const Environment& before, const LookupNow& now);

// NCCL_TUNE_PLAN after that: `set` and `why` without what is not set, `kept` with what has come up. At most kPlanLimit
// bytes, made so as PlanToJson makes it.
std::string AmendJson(std::string_view json, const Amendment& amendment);

// What explain says of it in one clause; "" when nothing has changed. Printable.
std::string DescribeAmendment(const Amendment& amendment);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_AMEND_PLAN_H_
