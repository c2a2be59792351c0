// SPDX-License-Identifier: Apache-2.0
#include "bench/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint64_t> GroupsOfEight(std::string_view text) {
  const auto split = ParseSplit(text);
  std::vector<std::uint64_t> groups;
  for (std::uint64_t process = 0; split.ok() && process < 8; ++process) groups.push_back(GroupOf(*split, process));
  return groups;
}

TEST(SplitTest, GroupsProcesses) {
  EXPECT_THAT(GroupsOfEight("AND 3"), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(GroupsOfEight("&0x4"), ElementsAre(0, 0, 0, 0, 4, 4, 4, 4));
  EXPECT_THAT(GroupsOfEight("or 3"), ElementsAre(3, 3, 3, 3, 7, 7, 7, 7));
  EXPECT_THAT(GroupsOfEight("| 0b1"), ElementsAre(1, 1, 3, 3, 5, 5, 7, 7));
  EXPECT_THAT(GroupsOfEight("MOD 3"), ElementsAre(0, 1, 2, 0, 1, 2, 0, 1));
  EXPECT_THAT(GroupsOfEight("%2"), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(GroupsOfEight("Div 4 "), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(GroupsOfEight("/\t02"), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_EQ(GroupOf({.operation = Split::Operation::kModulo, .value = 0}, 5), 5U);
  EXPECT_EQ(GroupOf({.operation = Split::Operation::kDivide, .value = 0}, 5), 5U);
}

TEST(SplitTest, RefusesTheRest) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& one :
       std::vector<Case>{{"", "expected AND, OR, MOD or DIV"},
                         {" ", "expected AND"},
                         {"2", "got \"2\", expected AND"},
                         {"XOR 2", "expected AND"},
                         {"MOD", "expected AND"},
                         {"MOD ", "expected AND"},
                         {"MODULO 2", "expected AND"},
                         {"MOD two", "expected AND"},
                         {"MOD 2 3", "expected AND"},
                         {"MOD 2x", "expected AND"},
                         {"MOD -2", "expected AND"},
                         {"MOD 0b2", "expected AND"},
                         {"MOD 0b", "expected AND"},
                         {"DIV 0x", "expected AND"},
                         {"DIV 1.5", "expected AND"},
                         {" DIV 2", "expected AND"},
                         {"AND 99999999999999999999", "and a whole number from 0 to 9223372036854775807"},
                         {"OR 9223372036854775808", "got \"OR 9223372036854775808\", expected AND"},
                         {"MOD 0", "expected a whole number from 1 on to divide by"},
                         {"/0x0", "expected a whole number from 1 on to divide by"},
                         {"%0b0", "expected a whole number from 1 on to divide by"}}) {
    const auto split = ParseSplit(one.text);
    ASSERT_FALSE(split.ok()) << one.text;
    EXPECT_THAT(split.error().ToString(), HasSubstr(one.message)) << one.text;
  }
}

TEST(SplitTest, AMaskIsHexadecimal) {
  EXPECT_EQ(ParseSplitMask("10")->value, 16U);
  EXPECT_EQ(ParseSplitMask("0xF")->value, 15U);
  EXPECT_EQ(ParseSplitMask(" 7 ")->operation, Split::Operation::kAnd);
  EXPECT_EQ(ParseSplitMask("0")->value, 0U);
  for (const char* text : {"", " ", "0x", "g", "-1", "7h", "0xx", "1 2", "MOD 2", "10000000000000000"}) {
    const auto split = ParseSplitMask(text);
    ASSERT_FALSE(split.ok()) << text;
    EXPECT_THAT(split.error().ToString(), HasSubstr("expected 1 to 16 hexadecimal digits")) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
