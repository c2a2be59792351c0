// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/nccl_integer.h"

#include <gtest/gtest.h>

#include <limits>

namespace nccl_tune::nccl {
namespace {

TEST(NcclIntegerTest, Numbers) {
  const struct {
    const char* text;
    std::int64_t value;
    IntegerForm form;
  } rows[] = {
      {"0", 0, IntegerForm::kPlain},
      {"3", 3, IntegerForm::kPlain},
      {"-1", -1, IntegerForm::kPlain},
      {"+7", 7, IntegerForm::kPlain},
      {"0x10", 16, IntegerForm::kPlain},
      {" 5", 5, IntegerForm::kPlain},
      {"010", 8, IntegerForm::kOctal},
      {"-010", -8, IntegerForm::kOctal},
      {"00", 0, IntegerForm::kOctal},
      {"3 ", 3, IntegerForm::kRestText},
      {"3abc", 3, IntegerForm::kRestText},
      {"08", 0, IntegerForm::kRestText},
      {"019", 1, IntegerForm::kRestText},
      {"0x", 0, IntegerForm::kRestText},
      {"0xg", 0, IntegerForm::kRestText},
      {"1.5", 1, IntegerForm::kRestText},
      {"yes", 0, IntegerForm::kNoNumber},
      {"-", 0, IntegerForm::kNoNumber},
      {"--1", 0, IntegerForm::kNoNumber},
      {" ", 0, IntegerForm::kNoNumber},
      {"ON", 0, IntegerForm::kNoNumber},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max(), IntegerForm::kPlain},
  };
  for (const auto& row : rows) {
    const NcclInteger got = ReadNcclInteger(row.text);
    ASSERT_TRUE(got.value.has_value()) << row.text;
    EXPECT_EQ(*got.value, row.value) << row.text;
    EXPECT_EQ(got.form, row.form) << row.text;
  }
}

TEST(NcclIntegerTest, DefaultsApply) {
  EXPECT_FALSE(ReadNcclInteger("").value.has_value());
  EXPECT_EQ(ReadNcclInteger("").form, IntegerForm::kEmpty);
  for (const char* text : {"9223372036854775808", "-99999999999999999999", "0xfffffffffffffffff"}) {
    EXPECT_FALSE(ReadNcclInteger(text).value.has_value()) << text;
    EXPECT_EQ(ReadNcclInteger(text).form, IntegerForm::kTooLarge) << text;
  }
}

TEST(ListNumberTest, Table) {
  const struct {
    const char* text;
    int value;
  } rows[] = {{"1", 1},
              {"010", 10},
              {" 2", 2},
              {"-1", -1},
              {"1x", 1},
              {"x", 0},
              {"", 0},
              {" ", 0},
              {"--1", 0},
              {"+-1", 0},
              {"--99999999999", 0},
              {"+-99999999999", 0},
              {"-+1", 0},
              {"- 1", 0},
              {"0x1", 0},
              {"99999999999", std::numeric_limits<int>::max()}};
  for (const auto& row : rows) EXPECT_EQ(ReadListNumber(row.text), row.value) << row.text;
}

}  // namespace
}  // namespace nccl_tune::nccl
