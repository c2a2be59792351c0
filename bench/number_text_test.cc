// SPDX-License-Identifier: Apache-2.0
#include "bench/number_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::bench {
namespace {

struct Case {
  double number;
  const char* text;
};

TEST(NumberTextTest, Times) {
  for (const Case& one : std::vector<Case>{{0, "0.00"},
                                           {0.004, "0.00"},
                                           {5.678, "5.68"},
                                           {999.999, "1000.00"},
                                           {9999.99, "9999.99"},
                                           {9999.996, "10000.0"},
                                           {12345.67, "12345.7"},
                                           {99999.94, "99999.9"},
                                           {99999.96, "100000"},
                                           {123456.7, "123457"},
                                           {9999999.4, "9999999"},
                                           {9999999.6, "1.0e+07"},
                                           {12345678, "1.2e+07"},
                                           {1.5e100, "1.5e+100"}}) {
    EXPECT_EQ(TimeText(one.number), one.text) << one.number;
  }
}

TEST(NumberTextTest, Bandwidths) {
  for (const Case& one : std::vector<Case>{{0, "0.00"},
                                           {0.111, "0.11"},
                                           {999.99, "999.99"},
                                           {999.996, "1000.0"},
                                           {9999.94, "9999.9"},
                                           {9999.96, "10000"},
                                           {123456.7, "123457"},
                                           {999999.4, "999999"},
                                           {999999.6, "1e+06"},
                                           {12345678, "1e+07"}}) {
    EXPECT_EQ(BandwidthText(one.number), one.text) << one.number;
  }
}

TEST(NumberTextTest, FixedAndExact) {
  EXPECT_EQ(FixedText(2.5, 0), "2");
  EXPECT_EQ(FixedText(0.125, 2), "0.12");
  EXPECT_EQ(FixedText(-0.0, 3), "-0.000");
  EXPECT_EQ(FixedText(1e300, 6).size(), 301U + 7U);
  EXPECT_EQ(ExactText(0.1), "0.1");
  EXPECT_EQ(ExactText(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(ExactText(1e300), "1e+300");
  EXPECT_EQ(ExactText(5e-324), "5e-324");
}

TEST(NumberTextTest, ShortNumbersAndColumns) {
  EXPECT_EQ(ShortText(0), "0");
  EXPECT_EQ(ShortText(1234567), "1.23457e+06");
  EXPECT_EQ(ShortText(0.0724519), "0.0724519");
  EXPECT_EQ(Right("ab", 4), "  ab");
  EXPECT_EQ(Right("abcde", 4), "abcde");
}

}  // namespace
}  // namespace nccl_tune::bench
