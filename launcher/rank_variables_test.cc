// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

RankFacts Facts() {
  return {.step = {.job = "7",
                   .step = "2",
                   .rank = 3,
                   .size = 6,
                   .local_rank = 1,
                   .local_size = 2,
                   .node_id = 1,
                   .node = "server2"},
          .size = 6,
          .master_address = "172.20.0.11",
          .master_port = 20'123};
}

const Environment& Everything() {
  static const Environment kAll = {{"RANK", "3"},
                                   {"WORLD_SIZE", "6"},
                                   {"LOCAL_RANK", "1"},
                                   {"LOCAL_WORLD_SIZE", "2"},
                                   {"NODE_RANK", "1"},
                                   {"GROUP_RANK", "1"},
                                   {"MASTER_ADDR", "172.20.0.11"},
                                   {"MASTER_PORT", "20123"},
                                   {"NCCL_TUNE_LAUNCH", "7.2"}};
  return kAll;
}

TEST(RankVariablesTest, SetsAllOfThem) {
  const Additions additions = DecideAdditions(Facts(), {{"HOME", "/"}});
  EXPECT_EQ(additions.set, Everything());
  EXPECT_THAT(additions.kept, IsEmpty());
  EXPECT_FALSE(additions.inherited);
}

TEST(RankVariablesTest, KeepsTheUsers) {
  const Additions additions = DecideAdditions(Facts(), {{"MASTER_PORT", "29500"}, {"RANK", "9"}});
  EXPECT_THAT(additions.kept, ElementsAre("MASTER_PORT=29500", "RANK=9"));
  EXPECT_FALSE(additions.set.contains("RANK"));
  EXPECT_EQ(additions.set.size(), Everything().size() - 2);
}

TEST(RankVariablesTest, ReplacesThoseOfAnOuterStepOfOurs) {
  Environment user = Everything();
  user["NCCL_TUNE_LAUNCH"] = "7.1";
  user["MASTER_ADDR"] = "10.0.0.9";
  const Additions additions = DecideAdditions(Facts(), user);
  EXPECT_TRUE(additions.inherited);
  EXPECT_EQ(additions.set, Everything());
}

TEST(RankVariablesTest, ReplacesThoseOfAnotherLauncher) {
  for (const auto& [name, value] : Environment{{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "2"}}) {
    Environment user = {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "6"}, {"MASTER_ADDR", "old"}};
    user[name] = value;
    const Additions additions = DecideAdditions(Facts(), user);
    EXPECT_TRUE(additions.inherited) << name;
    EXPECT_EQ(additions.set, Everything()) << name;
  }
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
