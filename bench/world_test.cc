// SPDX-License-Identifier: Apache-2.0
#include "bench/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using base::Environment;
using ::testing::HasSubstr;

Environment SlurmTask() {
  return {{"SLURM_JOB_ID", "7"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", "2"},
          {"SLURM_STEP_NUM_TASKS", "3"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "2"},
          {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"}};
}

TEST(WorldTest, AloneIsOneProcess) {
  const auto world = ReadWorld({});
  ASSERT_TRUE(world.ok());
  EXPECT_EQ(world->size, 1U);
  EXPECT_FALSE(world->has_pmix);
  EXPECT_TRUE(CheckStart(*world, BackendKind::kMpi).ok());
}

TEST(WorldTest, OneProcessInsideALargerJobIsTold) {
  Environment step = SlurmTask();
  step["SLURM_NTASKS"] = "3";
  const struct {
    Environment environment;
    const char* said;
  } rows[] = {
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "3"}},
       "one process alone, though SLURM_JOB_NUM_NODES is 3. Start"},
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_NTASKS", "8"}},
       "SLURM_NTASKS is 8. Start it with: srun"},
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_NTASKS", "1"}}, ""},
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "many"}}, ""},
      {{{"SLURM_JOB_ID", "7"}}, ""},
      {{{"SLURM_JOB_NUM_NODES", "3"}, {"SLURM_NTASKS", "3"}}, ""},  // what salloc's shell left behind
      {step, ""},
      {{}, ""},
  };
  for (const auto& row : rows) {
    const auto world = ReadWorld(row.environment);
    ASSERT_TRUE(world.ok()) << world.error().ToString();
    const auto said = WhyAlone(*world, row.environment);
    EXPECT_EQ(said.has_value(), *row.said != '\0') << said.value_or("");
    EXPECT_THAT(said.value_or(""), HasSubstr(row.said));
  }
}

TEST(WorldTest, SlurmWithPmix) {
  Environment environment = SlurmTask();
  environment["PMIX_NAMESPACE"] = "slurm.pmix.7.0";
  environment["PMIX_RANK"] = "2";
  const auto world = ReadWorld(environment);
  ASSERT_TRUE(world.ok()) << world.error().ToString();
  EXPECT_EQ(world->rank, 2U);
  EXPECT_EQ(world->size, 3U);
  EXPECT_TRUE(CheckStart(*world, BackendKind::kMpi).ok());
}

TEST(WorldTest, SlurmWithoutPmixNamesTheRightLine) {
  const auto world = ReadWorld(SlurmTask());
  ASSERT_TRUE(world.ok());
  for (const BackendKind backend : {BackendKind::kMpi, BackendKind::kNccl}) {
    const auto status = CheckStart(*world, backend);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().ToString(), HasSubstr("3 tasks was started without --mpi=pmix"));
    EXPECT_THAT(status.error().ToString(), HasSubstr("srun --mpi=pmix nccl-bench"));
  }
}

TEST(WorldTest, OneTaskWithoutPmixServesNcclOnly) {
  Environment environment = SlurmTask();
  environment["SLURM_STEP_NUM_TASKS"] = "1";
  environment["SLURM_PROCID"] = "0";
  const auto world = ReadWorld(environment);
  ASSERT_TRUE(world.ok());
  EXPECT_TRUE(CheckStart(*world, BackendKind::kNccl).ok());
  EXPECT_FALSE(CheckStart(*world, BackendKind::kMpi).ok());
}

TEST(WorldTest, InheritedPmixIsRefused) {
  Environment environment = SlurmTask();
  environment["PMIX_NAMESPACE"] = "slurm.pmix.6.0";
  environment["PMIX_RANK"] = "2";
  const auto world = ReadWorld(environment);
  ASSERT_FALSE(world.ok());
  EXPECT_THAT(world.error().ToString(), HasSubstr("outer step"));
}

TEST(WorldTest, MpirunInsideASlurmStep) {
  Environment environment = SlurmTask();
  environment["PMIX_NAMESPACE"] = "3735";
  environment["OMPI_COMM_WORLD_RANK"] = "1";
  environment["OMPI_COMM_WORLD_SIZE"] = "8";
  environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "1";
  environment["OMPI_COMM_WORLD_LOCAL_SIZE"] = "4";
  auto world = ReadWorld(environment);
  ASSERT_TRUE(world.ok());
  EXPECT_EQ(world->size, 8U);
  EXPECT_EQ(world->local_size, 4U);
  environment["OMPI_COMM_WORLD_RANK"] = "one";
  world = ReadWorld(environment);
  ASSERT_FALSE(world.ok());
  EXPECT_THAT(world.error().ToString(), HasSubstr("OMPI_COMM_WORLD_RANK: not a number: got \"one\""));
}

}  // namespace
}  // namespace nccl_tune::bench
