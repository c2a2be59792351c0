// SPDX-License-Identifier: Apache-2.0
//
// The Slurm step that a task belongs to, as its environment tells, and whether the PMIX_* variables beside it are those
// of the same step. An inner `srun --mpi=none` inherits the outer step's PMIX_*; used blindly, all its tasks would join
// the outer step as one rank.
//
// Pure: reads nothing but its arguments. Links no PMIx.
#ifndef NCCL_TUNE_PMIX_STEP_H_
#define NCCL_TUNE_PMIX_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::pmix {

struct Step {
  std::string job{};   // SLURM_JOB_ID
  std::string step{};  // SLURM_STEP_ID
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;
  std::uint32_t node_id = 0;
  std::uint32_t node_count = 1;
  std::string node{};  // SLURMD_NODENAME
};

// The step of the environment. Nothing when the process is no task of a step (no SLURM_STEP_ID or no SLURM_PROCID);
// an Error when it is one but a variable is missing or malformed.
base::Result<std::optional<Step>> ReadStep(const base::Environment& environment);

// How many tasks node `node_id` has, from SLURM_STEP_TASKS_PER_NODE such as "2(x3),1".
base::Result<std::uint32_t> TasksOnNode(std::string_view tasks_per_node, std::uint32_t node_id);

// How many nodes such a list names.
base::Result<std::uint32_t> CountNodes(std::string_view tasks_per_node);

enum class PmixState {
  kAbsent,    // no PMIX_NAMESPACE: started without a PMIx server
  kUsable,    // the server of this step, or one that is not Slurm's (mpirun)
  kInherited  // Slurm's, but of another step
};

struct PmixCheck {
  PmixState state = PmixState::kAbsent;
  std::string why{};  // for kInherited: which variable, its value and what it should be
};

// `step` is what ReadStep gave, a null pointer when there is none.
PmixCheck CheckPmix(const base::Environment& environment, const Step* step);

// The variable to set before PMIx is initialised, and to leave set for a program that is then exec'ed: the ds12 and
// ds21 stores of a PMIx 4 server serve one initialisation per process only (a second one finds no keys). Nothing for
// other servers, or when the user has set it.
std::optional<std::pair<std::string, std::string>> StoreSetting(const base::Environment& environment);

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_STEP_H_
