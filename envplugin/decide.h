// SPDX-License-Identifier: Apache-2.0
//
// What the process's NCCL is told on this node: the same policy, facts and rules as in the Slurm plugin and the
// command, for one version of NCCL. Reads through what it is given; knows neither the live machine nor NCCL's calls.
#ifndef NCCL_TUNE_ENVPLUGIN_DECIDE_H_
#define NCCL_TUNE_ENVPLUGIN_DECIDE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "hw/ip_facts.h"
#include "hw/tree.h"

namespace nccl_tune::envplugin {

struct Source {
  const hw::Tree* tree = nullptr;
  std::string node;  // the host's own name
  std::function<hw::IpFacts(std::vector<facts::Note>*)> ip;
  std::function<std::optional<facts::IpAddress>(const hw::IpFacts&)> address;  // the node's own
};

struct Decision {
  env::Environment values;  // for what the process has not set itself
  env::Environment kept;    // what it has
  std::string nothing;      // why there is nothing to say, one clause; empty: decided
  std::string warning;      // a line about the policy or NCCL_TUNE; empty: none
  std::string explanation;  // for stderr, every line whole; empty: not asked for
};

// `environment`: of the process, in which NCCL's configuration files already are. Reads no file where NCCL_TUNE says
// off or the Slurm plugin's values are there, and only the policy where that turns the tool off.
base::Result<Decision> Decide(const Source& source, const base::Environment& environment,
                              const nccl::NcclVersion& version);

// Whether the environment still holds what a plan of the Slurm plugin for this node set in it.
bool PlanStands(const base::Environment& environment, std::string_view node);

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_DECIDE_H_
