// SPDX-License-Identifier: Apache-2.0
//
// The part of the plugin that runs in a task, just before the user's program: works on the task's environment through
// Slurm's calls, in memory only, as a container plugin may have changed the file system under it.
//
// Threads: the task's only one. Errors: what Slurm refuses is said in the node's log and costs that variable.
#ifndef NCCL_TUNE_SPANK_TASK_H_
#define NCCL_TUNE_SPANK_TASK_H_

#include <string>

#include "base/environment.h"
#include "core/env/amend_plan.h"
#include "spank/node_plan.h"
#include "spank/slurm.h"

namespace nccl_tune::spank {

// Takes a variable out of the task's environment.
void UnsetVariable(spank_t spank, const std::string& name);

// Takes away what an outer step of ours had set and nobody has changed since.
void DropOuterValues(spank_t spank, const base::Environment& outer);

// Sets what is still right of a plan, and NCCL_TUNE_PLAN to say just that. `before`: the job's environment that the
// plan was made from. Returns what has changed since.
env::Amendment SetPlan(spank_t spank, const MadePlan& made, const base::Environment& before);

// Gives the option to steps that are started from the task, by the variable in which Slurm hands it to those of a batch
// script or of salloc; of srun's own it does not. What an outer job hands is replaced. `text`: as it was given; ""
// counts as auto. `is_new`: also where nothing is handed yet.
void HandOption(spank_t spank, const std::string& text, bool is_new);

// Whether this is the first task of its node, and whether its node is the first of the step: who speaks for the others.
bool IsFirstOfNode(spank_t spank);
bool IsFirstNode(spank_t spank);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_TASK_H_
