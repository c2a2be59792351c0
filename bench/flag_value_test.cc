// SPDX-License-Identifier: Apache-2.0
#include "bench/flag_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;

TEST(FlagValueTest, ReadsWholeNumbersAsStrtolDoes) {
  struct Case {
    const char* text;
    std::int64_t number;
  };
  for (const Case& one : std::vector<Case>{{"0", 0},
                                           {"20", 20},
                                           {"-1", -1},
                                           {"+7", 7},
                                           {" 8\t", 8},
                                           {"0x10", 16},
                                           {"0XfF", 255},
                                           {"-0x2", -2},
                                           {"010", 8},
                                           {"00", 0},
                                           {"9223372036854775807", INT64_MAX}}) {
    const auto number = ParseWhole(one.text);
    ASSERT_TRUE(number.ok()) << one.text;
    EXPECT_EQ(*number, one.number) << one.text;
  }
}

TEST(FlagValueTest, RefusesWhatStrtolCutsOff) {
  for (const char* text : {"",
                           " ",
                           "x",
                           "-",
                           "+",
                           "--1",
                           "+-1",
                           "-+1",
                           "1.5",
                           "8x",
                           "2k",
                           "1 2",
                           "0x",
                           "0xg",
                           "0x-1",
                           "08",
                           "0b11",
                           "1e3",
                           "=20",
                           "1,",
                           "٣",
                           "1\n2",
                           "0x+1",
                           "9223372036854775808",
                           "99999999999999999999"}) {
    const auto number = ParseWhole(text);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_THAT(number.error().ToString(), HasSubstr("expected a whole number")) << text;
  }
}

TEST(FlagValueTest, ReadsNumbers) {
  struct Case {
    const char* text;
    double number;
  };
  for (const Case& one :
       std::vector<Case>{{"0", 0}, {"12.5", 12.5}, {"1e3", 1000}, {"+.5", 0.5}, {"-2", -2}, {" 3 ", 3}}) {
    const auto number = ParseReal(one.text);
    ASSERT_TRUE(number.ok()) << one.text;
    EXPECT_EQ(*number, one.number) << one.text;
  }
}

TEST(FlagValueTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", " ", ".", "-", "--1", "+-1", "nan", "inf", "-inf", "1e", "1e999", "0x10", "1,5",
                           "1 GB/s", "fast", "1.2.3"}) {
    const auto number = ParseReal(text);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_THAT(number.error().ToString(), HasSubstr("bad value: got \"")) << text;
  }
}

TEST(FlagValueTest, HoldsRanges) {
  EXPECT_EQ(*ParseCount("0", kFromZero), 0);
  EXPECT_EQ(*ParseCount("1", kSwitch), 1);
  EXPECT_EQ(*ParseCount("-5", kAny), -5);
  EXPECT_EQ(*ParseRealFrom(0, "0", "GB/s"), 0);
  struct Case {
    const char* text;
    Range range;
    const char* expected;
  };
  for (const Case& one : std::vector<Case>{{"-1", kFromZero, "a whole number from 0 on"},
                                           {"0", kFromOne, "a whole number from 1 on"},
                                           {"2", kSwitch, "0 or 1"},
                                           {"-1", kSwitch, "0 or 1"},
                                           {"4", {.least = 0, .most = 3}, "a whole number from 0 to 3"},
                                           {"2147483648", kFromOne, "a whole number from 1 on"},
                                           {"-2147483649", kAny, "expected a whole number"},
                                           {"two", kFromOne, "a whole number from 1 on"}}) {
    const auto count = ParseCount(one.text, one.range);
    ASSERT_FALSE(count.ok()) << one.text;
    EXPECT_THAT(count.error().ToString(), HasSubstr(one.expected)) << one.text;
  }
  EXPECT_THAT(ParseRealFrom(0, "-1", "GB/s").error().ToString(), HasSubstr("got \"-1\", expected GB/s"));
}

}  // namespace
}  // namespace nccl_tune::bench
