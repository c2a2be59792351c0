// SPDX-License-Identifier: Apache-2.0
#include "bench/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SizesTest, ReadsSizes) {
  struct Case {
    const char* text;
    std::uint64_t bytes;
  };
  for (const Case& one : std::vector<Case>{{"0", 0},
                                           {"8", 8},
                                           {"1k", 1024},
                                           {"32M", 32U << 20U},
                                           {"1.5K", 1536},
                                           {"1.3k", 1331},
                                           {".5m", 1U << 19U},
                                           {"2g", 2ULL << 30U},
                                           {"16G", 16ULL << 30U},
                                           {"2 M", 2U << 20U},
                                           {" 8\t", 8},
                                           {"+1", 1},
                                           {"1e3", 1000},
                                           {"1e3k", 1024000},
                                           {"0x10", 16},
                                           {"0X1fk", 31744}}) {
    ASSERT_TRUE(ParseSize(one.text).ok()) << one.text;
    EXPECT_EQ(*ParseSize(one.text), one.bytes) << one.text;
  }
}

TEST(SizesTest, RefusesWhatIsNoSize) {
  for (const char* text : {"",
                           " ",
                           "k",
                           " k",
                           "M8",
                           "8T",
                           "8KB",
                           "8KiB",
                           "8kk",
                           "8 K B",
                           "-1",
                           "-1k",
                           "-0",
                           "- 1",
                           "+-1",
                           "++1",
                           "nan",
                           "inf",
                           "nank",
                           "1,5k",
                           "1 000",
                           "1e",
                           "0x",
                           "0xk",
                           "0x1.8",
                           "0x-1",
                           "0b11",
                           "1e400",
                           "--",
                           "8\n8",
                           "9e18G",
                           "=8",
                           "8B",
                           "ten",
                           "9223372036854775808",
                           "0xffffffffffffffff"}) {
    const auto size = ParseSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_THAT(size.error().ToString(), HasSubstr("not a size")) << text;
  }
}

TEST(SizesTest, SweepsByFactorAndStep) {
  EXPECT_THAT(SizesOf({.min_bytes = 8, .max_bytes = 64, .factor = 2}), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(SizesOf({.min_bytes = 8, .max_bytes = 63, .factor = 2}), ElementsAre(8, 16, 32));
  EXPECT_THAT(SizesOf({.min_bytes = 1, .max_bytes = 10, .step_bytes = 4}), ElementsAre(1, 5, 9));
  EXPECT_THAT(SizesOf({.min_bytes = 0, .max_bytes = 4, .step_bytes = 4}), ElementsAre(0, 4));
  EXPECT_THAT(SizesOf({}), ElementsAre(32U << 20U));
  EXPECT_THAT(SizesOf({.min_bytes = 7, .max_bytes = 7, .step_bytes = 0}), ElementsAre(7));
  EXPECT_THAT(SizesOf({.min_bytes = 8, .max_bytes = 4}), IsEmpty());
  constexpr std::uint64_t kLarge = 1ULL << 62U;
  EXPECT_THAT(SizesOf({.min_bytes = kLarge, .max_bytes = UINT64_MAX, .factor = 4}), ElementsAre(kLarge));
}

TEST(SizesTest, RefusesSweepsThatDoNotEnd) {
  struct Case {
    Sweep sweep;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {{.min_bytes = 8, .max_bytes = 4}, "-e: is less than the first size (-b), 8"},
           {{.min_bytes = 0, .max_bytes = 4, .factor = 2}, "-b: 0 times a factor stays 0"},
           {{.min_bytes = 1, .max_bytes = 4, .step_bytes = 0}, "-i: a step of 0"},
           {{.min_bytes = 1, .max_bytes = 4, .step_bytes = 0, .factor = 0}, "-i: a step of 0"},
           {{.min_bytes = 0, .max_bytes = 1U << 30U, .step_bytes = 1}, "-i: makes more than 1000000 sizes from 0 to"},
           {{.min_bytes = 0, .max_bytes = 1'000'000, .step_bytes = 1}, "-i: makes more than 1000000 sizes from 0 to"},
       }) {
    const auto status = CheckSweep(one.sweep);
    ASSERT_FALSE(status.ok()) << one.message;
    EXPECT_THAT(status.error().ToString(), HasSubstr(one.message));
  }
  EXPECT_TRUE(CheckSweep({}).ok());
  EXPECT_TRUE(CheckSweep({.min_bytes = 1, .max_bytes = 1'000'000, .step_bytes = 1}).ok());
  EXPECT_TRUE(CheckSweep({.min_bytes = 8, .max_bytes = 8, .step_bytes = 0}).ok());
}

TEST(SizesTest, MemoryLimitsTheLargestSize) {
  constexpr std::uint64_t kGiB = 1ULL << 30U;
  EXPECT_EQ(LargestSize(80 * kGiB, false), 75 * kGiB / 2);  // 4 + 1 GiB stay free
  EXPECT_EQ(LargestSize(80 * kGiB, true), 25 * kGiB);
  EXPECT_EQ(LargestSize(16 * kGiB, true), 14 * kGiB / 3);
  EXPECT_EQ(LargestSize(2 * kGiB, false), kGiB / 2);  // the reserve would leave nothing
  EXPECT_EQ(LargestSize(0, true), 0U);
}

}  // namespace
}  // namespace nccl_tune::bench
