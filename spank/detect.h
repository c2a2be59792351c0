// SPDX-License-Identifier: Apache-2.0
//
// This node's plan for one step, from the live machine, the site's policy and the job's environment. Runs in the child
// of node_plan.h: it may take as long as a driver or the site's DNS does. Knows no Slurm.
#ifndef NCCL_TUNE_SPANK_DETECT_H_
#define NCCL_TUNE_SPANK_DETECT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/env/plan.h"
#include "site/mode.h"

namespace nccl_tune::spank {

using site::Mode;

struct Wish {
  std::optional<Mode> mode;  // the job's own; absent: it says nothing
  Mode fallback;             // for such a job, where the site's policy says nothing either
  std::string policy;        // the site's policy, an absolute path
  std::string slurm_conf{};  // path of slurm.conf as Slurm's own processes have it, not the job; empty: the usual ones
  // Where srun collects what the nodes have to say (report_sender.h); empty: nowhere.
  std::string collector{};
};

struct NodePlan {
  std::string node;  // host name
  Mode mode;         // what holds. Inactive: the site's policy turns the tool off, and there is no plan; a warning says
                     // so to a job that asked for more than mode auto
  std::string json;  // for NCCL_TUNE_PLAN
  std::vector<std::string> warnings;       // what of the job's own wishes or values will hurt: a printable line each
  std::vector<std::string> site_warnings;  // for administrators: a policy that is ignored
  std::string explanation;                 // lines for the user; empty unless asked for
  std::string key;                         // equal on nodes that share a plan
  std::string fault;                       // strict: why the step shall not run, a line each; empty: nothing
};

// `user`: the job's environment.
base::Result<NodePlan> DetectNodePlan(const env::Environment& user, const Wish& wish);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_DETECT_H_
