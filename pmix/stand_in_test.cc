// SPDX-License-Identifier: Apache-2.0
#include "pmix/stand_in.h"

#include <gtest/gtest.h>

#include <thread>

namespace nccl_tune::pmix {
namespace {

using std::chrono::milliseconds;

TEST(StandIn, CarriesWhatEachRankHasPut) {
  const auto members = MakeStandIns(3);
  std::vector<std::thread> ranks;
  for (const auto& member : members) {
    ranks.emplace_back([&member] {
      ASSERT_TRUE(member->Put("key", "from " + std::to_string(member->rank())).ok());
      ASSERT_TRUE(member->Fence(milliseconds(10'000), "meet").ok());
    });
  }
  for (auto& rank : ranks) rank.join();
  for (const auto& member : members) {
    EXPECT_EQ(member->size(), 3U);
    EXPECT_EQ(member->Get(2, "key").value_or(""), "from 2");
  }
}

TEST(StandIn, SecondFenceCarriesTheSecondPut) {
  const auto members = MakeStandIns(1);
  ASSERT_TRUE(members[0]->Put("key", "a").ok());
  ASSERT_TRUE(members[0]->Fence(milliseconds(10), "meet").ok());
  ASSERT_TRUE(members[0]->Put("key", "b").ok());
  EXPECT_EQ(members[0]->Get(0, "key").value_or(""), "a");
  ASSERT_TRUE(members[0]->Fence(milliseconds(10), "meet").ok());
  EXPECT_EQ(members[0]->Get(0, "key").value_or(""), "b");
}

TEST(StandIn, WhatNobodyHasPutIsNotFound) {
  const auto members = MakeStandIns(1);
  ASSERT_TRUE(members[0]->Put("key", "a").ok());
  EXPECT_EQ(members[0]->Get(0, "key").error().code, base::Code::kNotFound);
  ASSERT_TRUE(members[0]->Fence(milliseconds(10), "meet").ok());
  EXPECT_EQ(members[0]->Get(0, "other").error().code, base::Code::kNotFound);
  EXPECT_EQ(members[0]->Get(1, "key").error().code, base::Code::kNotFound);
}

TEST(StandIn, RankThatNeverComesIsNamedAtTheDeadline) {
  const auto members = MakeStandIns(2);
  const auto status = members[1]->Fence(milliseconds(5), "start");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kTimeout);
  EXPECT_EQ(status.error().ToString(), "rank 1 of 2 waited for all other ranks to start");
}

}  // namespace
}  // namespace nccl_tune::pmix
