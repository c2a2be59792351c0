// SPDX-License-Identifier: Apache-2.0
#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::base {
namespace {

TEST(ParseIntegerTest, Good) {
  EXPECT_EQ(*ParseInteger<int>("0"), 0);
  EXPECT_EQ(*ParseInteger<int>("-7"), -7);
  EXPECT_EQ(*ParseInteger<int>("010"), 10);
  EXPECT_EQ(*ParseInteger<std::uint8_t>("255"), 255);
  EXPECT_EQ(*ParseInteger<unsigned>("ff", 16), 255u);
}

TEST(ParseIntegerTest, Bad) {
  for (const char* text : {"", " ", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "--1", "one", "1\n", "\xff"}) {
    const auto got = ParseInteger<int>(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a whole number") << text;
    EXPECT_EQ(got.error().seen, text);
  }
  EXPECT_EQ(ParseInteger<std::uint8_t>("256").error().what, "number out of range");
  EXPECT_EQ(ParseInteger<int>("99999999999999999999").error().what, "number out of range");
  EXPECT_FALSE(ParseInteger<unsigned>("-1").ok());
  EXPECT_FALSE(ParseInteger<int>(std::string_view("1\0", 2)).ok());
}

TEST(ParseHexOrDecimalTest, Table) {
  EXPECT_EQ(*ParseHexOrDecimal("0x1f"), 31u);
  EXPECT_EQ(*ParseHexOrDecimal("31"), 31u);
  for (const char* text : {"", "0x", "0xg", "x1", "-1", "0x-1", "0x10000000000000000"}) {
    EXPECT_FALSE(ParseHexOrDecimal(text).ok()) << text;
  }
}

TEST(ParseDecimalTest, Table) {
  EXPECT_EQ(*ParseDecimal("12.5"), 12.5);
  EXPECT_EQ(*ParseDecimal("200"), 200.0);
  for (const char* text : {"", ".", "inf", "nan", "1e5", "0x1p3", "12,5", "12.5 ", "12.5Gb"}) {
    EXPECT_FALSE(ParseDecimal(text).ok()) << text;
  }
}

TEST(TrimTest, Table) {
  EXPECT_EQ(Trim(" a b\n"), "a b");
  EXPECT_EQ(Trim(" \t\r\n"), "");
  EXPECT_EQ(Trim(""), "");
}

}  // namespace
}  // namespace nccl_tune::base
