// SPDX-License-Identifier: Apache-2.0
//
// Where there is nobody to ask. That a server ends the step is tested end to end.
#include "pmix/abort_step.h"

#include <gtest/gtest.h>

namespace nccl_tune::pmix {
namespace {

TEST(AbortStepTest, WithoutAServerOfThisStepNothingIsAsked) {
  const base::Environment step = {
      {"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "1"},        {"SLURM_PROCID", "0"},
      {"SLURM_NTASKS", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_LOCALID", "0"},
      {"SLURM_NODEID", "0"}, {"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1"},
      {"SLURM_NNODES", "1"}, {"SLURMD_NODENAME", "n1"}};
  base::Environment outer = step;
  outer["PMIX_NAMESPACE"] = "slurm.pmix.7.0";
  outer["PMIX_RANK"] = "0";
  for (const base::Environment& one : {base::Environment{}, step, outer}) {
    const auto status = AbortStep(one, 6);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, base::Code::kNotFound) << status.error().ToString();
    EXPECT_EQ(status.error().what, "no PMIx server of this step");
  }
}

TEST(AbortStepTest, AStepThatIsMalformed) {
  EXPECT_FALSE(AbortStep({{"SLURM_STEP_ID", "1"}, {"SLURM_PROCID", "x"}}, 6).ok());
}

}  // namespace
}  // namespace nccl_tune::pmix
