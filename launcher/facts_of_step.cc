// SPDX-License-Identifier: Apache-2.0
#include "launcher/facts_of_step.h"

#include "base/parse_number.h"

namespace nccl_tune::launcher {

base::Result<RankFacts> FactsOfStep(const pmix::Step& step, const base::Environment& environment) {
  constexpr const char* kRestarts = "SLURM_RESTART_COUNT";
  auto restarts = base::ParseInteger<std::uint32_t>(base::Lookup(environment, kRestarts).value_or("0"));
  if (!restarts.ok()) {
    base::Error error = restarts.error();
    error.where = kRestarts;
    return error;
  }
  return RankFacts{.job = step.job,
                   .step = step.step,
                   .rank = step.rank,
                   .size = step.size,
                   .local_rank = step.local_rank,
                   .local_size = step.local_size,
                   .node_rank = step.node_id,
                   .node_count = step.node_count,
                   .restart_count = *restarts};
}

}  // namespace nccl_tune::launcher
