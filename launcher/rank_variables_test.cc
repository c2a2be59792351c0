// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/rank_catalog.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

RankFacts Facts() {
  return {.job = "7",
          .step = "2",
          .rank = 3,
          .size = 6,
          .local_rank = 1,
          .local_size = 2,
          .node_rank = 1,
          .node_count = 3,
          .master_address = "172.20.0.11",
          .master_port = 20'123,
          .restart_count = 4};
}

const Environment& Everything() {
  static const Environment kAll = {{"RANK", "3"},
                                   {"WORLD_SIZE", "6"},
                                   {"LOCAL_RANK", "1"},
                                   {"LOCAL_WORLD_SIZE", "2"},
                                   {"NODE_RANK", "1"},
                                   {"GROUP_RANK", "1"},
                                   {"GROUP_WORLD_SIZE", "3"},
                                   {"ROLE_RANK", "3"},
                                   {"ROLE_WORLD_SIZE", "6"},
                                   {"ROLE_NAME", "default"},
                                   {"MASTER_ADDR", "172.20.0.11"},
                                   {"MASTER_PORT", "20123"},
                                   {"TORCHELASTIC_RUN_ID", "7.2"},
                                   {"TORCHELASTIC_RESTART_COUNT", "4"},
                                   {"TORCHELASTIC_MAX_RESTARTS", "0"},
                                   {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                   {"JAX_COORDINATOR_ADDRESS", "172.20.0.11:20123"},
                                   {"JAX_NUM_PROCESSES", "6"},
                                   {"JAX_PROCESS_ID", "3"},
                                   {"OMPI_COMM_WORLD_RANK", "3"},
                                   {"OMPI_COMM_WORLD_SIZE", "6"},
                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                   {"OMPI_COMM_WORLD_NODE_RANK", "1"},
                                   {"NCCL_TUNE_LAUNCH", "7.2"}};
  return kAll;
}

// What torchrun gives a worker of its own: one of one, unless changed.
Environment Torchruns() {
  return {{"RANK", "3"},
          {"LOCAL_RANK", "1"},
          {"WORLD_SIZE", "6"},
          {"MASTER_ADDR", "outer"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          {"TORCHELASTIC_ERROR_FILE", "/tmp/outer/error.json"}};
}

TEST(RankVariablesTest, SetsAllOfThem) {
  const Additions additions = DecideAdditions(Facts(), {{"HOME", "/"}});
  EXPECT_EQ(additions.set, Everything());
  EXPECT_THAT(additions.kept, IsEmpty());
  EXPECT_THAT(additions.unset, IsEmpty());
  EXPECT_FALSE(additions.inherited);
}

TEST(RankVariablesTest, SetsADeviceWhereTheRankIsPlaced) {
  RankFacts facts = Facts();
  facts.device = 0;
  EXPECT_EQ(DecideAdditions(facts, {}).set.at("JAX_LOCAL_DEVICE_IDS"), "0");
}

TEST(RankVariablesTest, KeepsTheUsers) {
  const Additions additions = DecideAdditions(Facts(), {{"MASTER_PORT", "29500"}, {"RANK", "9"}});
  EXPECT_THAT(additions.kept, UnorderedElementsAre("MASTER_PORT=29500", "RANK=9"));
  EXPECT_FALSE(additions.set.contains("RANK"));
  EXPECT_EQ(additions.set.size(), Everything().size() - 2);
}

TEST(RankVariablesTest, EachVariableOfTheUserStays) {
  for (const auto& variable : RankVariables()) {
    const std::string name(variable.name);
    const Environment user = {{name, "mine"}};
    const Additions additions = DecideAdditions(Facts(), user);
    EXPECT_THAT(additions.kept, ElementsAre(name + "=mine"));
    EXPECT_THAT(additions.unset, IsEmpty()) << name;
    EXPECT_FALSE(additions.set.contains(name)) << name;
    EXPECT_TRUE(StaysTheUsers(Facts(), user, name)) << name;
    EXPECT_FALSE(StaysTheUsers(Facts(), {}, name)) << name;
  }
  EXPECT_FALSE(StaysTheUsers(Facts(), {{"HOME", "/"}}, "HOME"));
}

TEST(RankVariablesTest, JaxFollowsWhereTheUserWantsToMeet) {
  struct Case {
    Environment user;
    const char* coordinator;
  };
  const Case cases[] = {{{{"MASTER_ADDR", "10.0.0.9"}}, "10.0.0.9:20123"},
                        {{{"MASTER_PORT", "1234"}}, "172.20.0.11:1234"},
                        {{{"MASTER_ADDR", "fd00::1"}, {"MASTER_PORT", "1"}}, "[fd00::1]:1"},
                        {{{"MASTER_ADDR", "[fd00::1]"}}, "[fd00::1]:20123"},
                        {{{"NCCL_TUNE_LAUNCH", "7.1"}, {"MASTER_ADDR", "old"}}, "172.20.0.11:20123"}};
  for (const Case& one : cases) {
    EXPECT_EQ(DecideAdditions(Facts(), one.user).set.at("JAX_COORDINATOR_ADDRESS"), one.coordinator);
  }
  const Environment own = {{"MASTER_ADDR", "10.0.0.9"}, {"JAX_COORDINATOR_ADDRESS", "x:1"}};
  EXPECT_FALSE(DecideAdditions(Facts(), own).set.contains("JAX_COORDINATOR_ADDRESS"));
}

TEST(RankVariablesTest, ReplacesThoseOfAnOuterStepOfOurs) {
  for (const auto& variable : RankVariables()) {
    const std::string name(variable.name);
    Environment user = {{"NCCL_TUNE_LAUNCH", "7.1"}, {name, "outer"}};
    const Additions additions = DecideAdditions(Facts(), user);
    EXPECT_TRUE(additions.inherited);
    EXPECT_THAT(additions.kept, IsEmpty());
    Apply(additions, &user);
    EXPECT_EQ(user, Everything()) << name;
    EXPECT_FALSE(StaysTheUsers(Facts(), {{"NCCL_TUNE_LAUNCH", "7.1"}, {name, "outer"}}, name)) << name;
  }
}

TEST(RankVariablesTest, ReplacesThoseOfTorchrun) {
  for (const auto& [name, value] : Environment{{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "2"}, {"A", "b"}}) {
    Environment user = Torchruns();
    user[name] = value;
    user["HOME"] = "/";
    const Additions additions = DecideAdditions(Facts(), user);
    EXPECT_TRUE(additions.inherited) << name;
    EXPECT_EQ(additions.set, Everything()) << name;
    EXPECT_THAT(additions.unset, ElementsAre("TORCHELASTIC_ERROR_FILE"));
  }
  // Before it had a run id.
  const Additions old =
      DecideAdditions(Facts(), {{"RANK", "0"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "6"}, {"MASTER_ADDR", "old"}});
  EXPECT_TRUE(old.inherited);
  EXPECT_EQ(old.set, Everything());
}

TEST(RankVariablesTest, TorchrunLeavesMpirunsAndTheUsersJaxAlone) {
  Environment user = Torchruns();
  user["OMPI_COMM_WORLD_LOCAL_SIZE"] = "9";
  user["JAX_PROCESS_ID"] = "8";
  EXPECT_THAT(DecideAdditions(Facts(), user).kept,
              UnorderedElementsAre("OMPI_COMM_WORLD_LOCAL_SIZE=9", "JAX_PROCESS_ID=8"));
}

TEST(RankVariablesTest, ReplacesThoseOfMpirun) {
  Environment user = {
      {"OMPI_COMM_WORLD_RANK", "0"},      {"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
      {"OMPI_COMM_WORLD_NODE_RANK", "0"}, {"MASTER_PORT", "1234"},       {"RANK", "9"}};
  const Additions additions = DecideAdditions(Facts(), user);
  EXPECT_TRUE(additions.inherited);
  EXPECT_EQ(additions.set.at("OMPI_COMM_WORLD_RANK"), "3");
  EXPECT_EQ(additions.set.at("OMPI_COMM_WORLD_NODE_RANK"), "1");
  EXPECT_THAT(additions.kept, UnorderedElementsAre("RANK=9", "MASTER_PORT=1234"));
  user["OMPI_COMM_WORLD_RANK"] = "3";
  user["OMPI_COMM_WORLD_SIZE"] = "6";
  user["OMPI_COMM_WORLD_LOCAL_RANK"] = "1";
  EXPECT_FALSE(DecideAdditions(Facts(), user).inherited);
}

TEST(RankVariablesTest, AFittingSetIsKept) {
  const Additions additions =
      DecideAdditions(Facts(), {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "6"}, {"MASTER_ADDR", "mine"}});
  EXPECT_FALSE(additions.inherited);
  EXPECT_FALSE(additions.set.contains("MASTER_ADDR"));
  Environment own = Everything();
  own["MASTER_PORT"] = "1";
  EXPECT_FALSE(DecideAdditions(Facts(), own).set.contains("MASTER_PORT"));
}

}  // namespace
}  // namespace nccl_tune::launcher
