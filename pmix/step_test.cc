// SPDX-License-Identifier: Apache-2.0
#include "pmix/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::pmix {
namespace {

using base::Environment;
using ::testing::HasSubstr;

Environment Task() {
  return {{"SLURM_JOB_ID", "7"},
          {"SLURM_STEP_ID", "2"},
          {"SLURM_PROCID", "3"},
          {"SLURM_STEP_NUM_TASKS", "6"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"},
          {"SLURMD_NODENAME", "server2"},
          {"PMIX_NAMESPACE", "slurm.pmix.7.2"},
          {"PMIX_RANK", "3"}};
}

TEST(TasksOnNodeTest, ReadsLists) {
  struct Case {
    const char* text;
    std::uint32_t node;
    std::uint32_t tasks;
  };
  for (const Case& one :
       std::vector<Case>{{"4", 0, 4}, {"2(x3)", 2, 2}, {"4,1(x2)", 0, 4}, {"4,1(x2)", 2, 1}, {"1(x2),3", 2, 3}}) {
    const auto tasks = TasksOnNode(one.text, one.node);
    ASSERT_TRUE(tasks.ok()) << one.text;
    EXPECT_EQ(*tasks, one.tasks) << one.text;
  }
}

TEST(TasksOnNodeTest, RefusesTheRest) {
  struct Case {
    const char* text;
    std::uint32_t node;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{{"", 0, "malformed"},
                                           {"x", 0, "malformed"},
                                           {"2(x", 0, "malformed"},
                                           {"2(x)", 0, "malformed"},
                                           {"2(x0)", 0, "malformed"},
                                           {"2(x3", 0, "malformed"},
                                           {",2", 0, "malformed"},
                                           {"2,", 1, "malformed"},
                                           {"-1", 0, "malformed"},
                                           {"2 ", 0, "malformed"},
                                           {"2(x3)", 3, "fewer nodes"},
                                           {"1", 1, "SLURM_NODEID 1"}}) {
    const auto tasks = TasksOnNode(one.text, one.node);
    ASSERT_FALSE(tasks.ok()) << one.text;
    EXPECT_THAT(tasks.error().ToString(), HasSubstr(one.message)) << one.text;
  }
}

TEST(CountNodesTest, ReadsLists) {
  struct Case {
    const char* text;
    std::uint32_t nodes;
  };
  for (const Case& one : std::vector<Case>{{"4", 1}, {"2(x3)", 3}, {"4,1(x2)", 3}, {"1(x2),3", 3}}) {
    const auto nodes = CountNodes(one.text);
    ASSERT_TRUE(nodes.ok()) << one.text;
    EXPECT_EQ(*nodes, one.nodes) << one.text;
  }
}

TEST(CountNodesTest, RefusesTheRest) {
  for (const char* text : {"", "x", "2(x", "2(x0)", ",2", "2,", "1,x", "4,2(x3"}) {
    const auto nodes = CountNodes(text);
    ASSERT_FALSE(nodes.ok()) << text;
    EXPECT_THAT(nodes.error().ToString(), HasSubstr("SLURM_STEP_TASKS_PER_NODE: malformed")) << text;
  }
  EXPECT_THAT(CountNodes("1(x4294967295),1").error().ToString(), HasSubstr("names too many nodes"));
}

TEST(ReadStepTest, ReadsATask) {
  const auto step = ReadStep(Task());
  ASSERT_TRUE(step.ok() && step->has_value());
  EXPECT_EQ((*step)->rank, 3U);
  EXPECT_EQ((*step)->size, 6U);
  EXPECT_EQ((*step)->local_rank, 1U);
  EXPECT_EQ((*step)->local_size, 2U);
  EXPECT_EQ((*step)->node_id, 1U);
  EXPECT_EQ((*step)->node_count, 3U);
  EXPECT_EQ((*step)->node, "server2");
}

TEST(ReadStepTest, NoTaskIsNoError) {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"}) {
    Environment environment = Task();
    environment.erase(name);
    const auto step = ReadStep(environment);
    ASSERT_TRUE(step.ok()) << name;
    EXPECT_FALSE(step->has_value()) << name;
  }
}

TEST(ReadStepTest, NamesTheVariableThatIsWrong) {
  for (const char* name :
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_TASKS_PER_NODE"}) {
    Environment environment = Task();
    environment[name] = "many";
    const auto step = ReadStep(environment);
    ASSERT_FALSE(step.ok()) << name;
    EXPECT_THAT(step.error().ToString(), HasSubstr(name));
  }
  Environment environment = Task();
  environment.erase("SLURM_LOCALID");
  EXPECT_THAT(ReadStep(environment).error().ToString(), HasSubstr("SLURM_LOCALID: not set"));
}

PmixCheck CheckOf(const Environment& environment) {
  const auto step = ReadStep(environment);
  return CheckPmix(environment, step.ok() && step->has_value() ? &**step : nullptr);
}

TEST(CheckPmixTest, TellsOwnFromInherited) {
  EXPECT_EQ(CheckOf(Task()).state, PmixState::kUsable);
  EXPECT_EQ(CheckOf({}).state, PmixState::kAbsent);
  EXPECT_EQ(CheckOf({{"PMIX_NAMESPACE", "1234"}, {"PMIX_RANK", "0"}}).state, PmixState::kUsable);
  struct Case {
    const char* name;
    const char* value;
    const char* why;
  };
  for (const Case& one : std::vector<Case>{
           {"PMIX_NAMESPACE", "slurm.pmix.7.0", "this step's would be slurm.pmix.7.2"},
           {"PMIX_NAMESPACE", "slurm.pmix.6.2", "slurm.pmix.6.2"},
           {"PMIX_RANK", "0", "PMIX_RANK is \"0\", but SLURM_PROCID is 3"},
           {"PMIX_RANK", "", "PMIX_RANK is \"\""},
           {"SLURM_STEP_ID", "5", "slurm.pmix.7.5"},
       }) {
    Environment environment = Task();
    environment[one.name] = one.value;
    const PmixCheck check = CheckOf(environment);
    EXPECT_EQ(check.state, PmixState::kInherited) << one.name << one.value;
    EXPECT_THAT(check.why, HasSubstr(one.why));
  }
  EXPECT_THAT(CheckOf({{"PMIX_NAMESPACE", "slurm.pmix.7.2"}}).why, HasSubstr("no Slurm task"));
}

TEST(CheckPmixTest, HeterogeneousStepHasTheLeadersJob) {
  Environment environment = Task();
  environment["SLURM_HET_JOB_ID"] = "6";
  environment["PMIX_NAMESPACE"] = "slurm.pmix.6.2";
  EXPECT_EQ(CheckOf(environment).state, PmixState::kUsable);
}

TEST(StoreSettingTest, OnlyForTheSharedStoresOfVersion4) {
  EXPECT_TRUE(StoreSetting({{"PMIX_GDS_MODULE", "ds21,ds12,hash"}}).has_value());
  EXPECT_TRUE(StoreSetting({{"PMIX_GDS_MODULE", "hash,ds12"}}).has_value());
  EXPECT_FALSE(StoreSetting({{"PMIX_GDS_MODULE", "shmem2,hash"}}).has_value());
  EXPECT_FALSE(StoreSetting({}).has_value());
  EXPECT_FALSE(StoreSetting({{"PMIX_GDS_MODULE", "ds21,hash"}, {"PMIX_MCA_gds", "ds21"}}).has_value());
}

}  // namespace
}  // namespace nccl_tune::pmix
