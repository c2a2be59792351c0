// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::launcher {
namespace {

TEST(RankListTest, FromSlurm) {
  struct Row {
    const char* gtids;
    const char* list;
    std::uint64_t count;
  };
  for (const auto& row : std::vector<Row>{{"0", "0", 1},
                                          {"0,1,2,3", "0-3", 4},
                                          {"0,2,4", "0,2,4", 3},
                                          {"5,4,0,1", "0-1,4-5", 4},
                                          {"4294967295", "4294967295", 1}}) {
    const auto list = RankListOf(row.gtids);
    ASSERT_TRUE(list.ok()) << row.gtids;
    EXPECT_EQ(*list, row.list);
    const auto ranges = ParseRankList(*list);
    ASSERT_TRUE(ranges.ok()) << *list;
    EXPECT_EQ(CountRanks(*ranges), row.count);
  }
}

TEST(RankListTest, RangesAreNotSpreadOut) {
  const auto ranges = ParseRankList("0-4294967295");
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(CountRanks(*ranges), std::uint64_t{1} << 32U);
}

TEST(RankListTest, RefusesOtherText) {
  for (const char* text : {"",    ",",     "0,",  ",0",    "a",  "0-",   "-1", "1-0",        "0-0", "0,0",
                           "1,0", "0-3,2", "0,1", "0-1,2", "00", "0 ,1", "+1", "4294967296", "0x1", "0--1"}) {
    const auto list = ParseRankList(text);
    ASSERT_FALSE(list.ok()) << text;
    EXPECT_EQ(list.error().ToString(),
              "not a list of ranks: got \"" + std::string(text) + "\", expected ascending ranks such as 0-7,16");
  }
  for (const char* text : {"", "0,0", "0,", "a,b", "1-2", "0,-1", "01"}) EXPECT_FALSE(RankListOf(text).ok()) << text;
}

}  // namespace
}  // namespace nccl_tune::launcher
