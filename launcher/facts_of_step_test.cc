// SPDX-License-Identifier: Apache-2.0
#include "launcher/facts_of_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;

pmix::Step StepOfTwoNodes() {
  return {.job = "7",
          .step = "2",
          .rank = 3,
          .size = 4,
          .local_rank = 1,
          .local_size = 2,
          .node_id = 1,
          .node_count = 2,
          .node = "server2"};
}

TEST(FactsOfStepTest, TakesAllOfThem) {
  const auto facts = FactsOfStep(StepOfTwoNodes(), {{"SLURM_RESTART_COUNT", "3"}});
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->job, "7");
  EXPECT_EQ(facts->step, "2");
  EXPECT_EQ(facts->rank, 3U);
  EXPECT_EQ(facts->size, 4U);
  EXPECT_EQ(facts->local_rank, 1U);
  EXPECT_EQ(facts->local_size, 2U);
  EXPECT_EQ(facts->node_rank, 1U);
  EXPECT_EQ(facts->node_count, 2U);
  EXPECT_EQ(facts->restart_count, 3U);
  EXPECT_EQ(FactsOfStep(StepOfTwoNodes(), {})->restart_count, 0U);
}

TEST(FactsOfStepTest, RefusesACountThatIsNone) {
  for (const char* text : {"", "-1", "1 ", "one", "4294967296"}) {
    const auto facts = FactsOfStep(StepOfTwoNodes(), {{"SLURM_RESTART_COUNT", text}});
    ASSERT_FALSE(facts.ok()) << text;
    EXPECT_THAT(facts.error().ToString(), HasSubstr("SLURM_RESTART_COUNT: n")) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
