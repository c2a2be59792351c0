// SPDX-License-Identifier: Apache-2.0
#include "bench/search_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(SearchExchangeTest, AProcessIsInTheGroupOfItsNode) {
  EXPECT_THAT(Assign({{2, 0}, {1, 4}}, {0, 0, 1, 2, 3, 4, 4}), ElementsAre(0, 0, 1, 0, std::nullopt, 1, 1));
  EXPECT_THAT(Assign({}, {0, 1}), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(Assign({{0, 1}}, {}), IsEmpty());
}

TEST(SearchExchangeTest, AnAssignmentComesBackFromItsText) {
  for (const Assignment& one :
       {Assignment{}, Assignment{7}, Assignment{std::nullopt}, Assignment{0, std::nullopt, 18446744073709551615U}}) {
    const auto back = AssignmentFromText(AssignmentToText(one), one.size());
    ASSERT_TRUE(back.ok()) << AssignmentToText(one);
    EXPECT_EQ(*back, one);
  }
  EXPECT_EQ(AssignmentToText({0, std::nullopt, 12}), "0 - 12");
}

TEST(SearchExchangeTest, RefusesWhatIsNoAssignment) {
  for (const char* text :
       {"", "0", "0 1 2", "0 x", "0  1", "0 -1", "0 1.5", "- --", "0 18446744073709551616", "0\n1"}) {
    const auto back = AssignmentFromText(text, 2);
    ASSERT_FALSE(back.ok()) << text;
    EXPECT_THAT(back.error().ToString(), HasSubstr("what the processes tell each other: not a group"));
  }
}

TEST(SearchExchangeTest, AMeasurementComesBackFromItsText) {
  for (const Measurement& one : {Measurement{}, Measurement{.busbw = {2.875, 1e-9, 0}},
                                 Measurement{.busbw = {0.333333333}, .is_right = false}}) {
    const auto back = MeasurementFromText(MeasurementToText(one));
    ASSERT_TRUE(back.ok()) << MeasurementToText(one);
    EXPECT_EQ(back->busbw, one.busbw);
    EXPECT_EQ(back->is_right, one.is_right);
  }
  EXPECT_EQ(MeasurementToText({.busbw = {kNan, kInfinity}}), "right 0.000000000 0.000000000");
}

TEST(SearchExchangeTest, RefusesWhatIsNoMeasurement) {
  for (const char* text :
       {"", "12", "Right 1", "right 1,5", "right x", "right  1", "wrong nan", "right inf", "right 1x"}) {
    const auto back = MeasurementFromText(text);
    ASSERT_FALSE(back.ok()) << text;
    EXPECT_THAT(back.error().ToString(), HasSubstr("not a measurement"));
  }
}

TEST(SearchExchangeTest, AGroupIsAsFastAsItsSlowestProcessAtItsBestSize) {
  EXPECT_EQ(GroupBusbw({}), 0);
  EXPECT_EQ(GroupBusbw({{.busbw = {}}}), 0);
  EXPECT_EQ(GroupBusbw({{.busbw = {3}}, {.busbw = {2}}, {.busbw = {4}}}), 2);
  EXPECT_EQ(GroupBusbw({{.busbw = {1, 5, 9}}, {.busbw = {2, 4, 1}}}), 4);
  EXPECT_EQ(GroupBusbw({{.busbw = {1}}, {.busbw = {1, 2}}}), 0);
  EXPECT_EQ(GroupBusbw({{.busbw = {-1}}, {.busbw = {1}}}), 0);
}

}  // namespace
}  // namespace nccl_tune::bench
