// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::base {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error{.code = Code::kInvalidInput, .what = "odd", .seen = std::to_string(n)};
  return n / 2;
}

Result<int> Quarter(int n) {
  NCCL_TUNE_ASSIGN_OR_RETURN(half, Half(n));
  return Half(half);
}

TEST(ResultTest, HoldsAValueOrAnError) {
  EXPECT_EQ(*Half(4), 2);
  EXPECT_FALSE(Half(3).ok());
  EXPECT_EQ(Half(3).error().seen, "3");
  EXPECT_EQ(Half(3).value_or(9), 9);
}

TEST(ResultTest, MacrosPassTheFirstErrorOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().seen, "3");
  EXPECT_EQ(Quarter(5).error().seen, "5");
}

TEST(ErrorTest, MessageHasEveryPartThatIsKnown) {
  const Error full{.code = Code::kInvalidInput,
                   .what = "rate is no number",
                   .where = "mlx5_3:1",
                   .seen = "",
                   .expected = "a number of Gb/sec",
                   .hint = "Leaving this port out."};
  EXPECT_EQ(full.ToString(),
            "mlx5_3:1: rate is no number: got \"\", expected a number of Gb/sec. Leaving this port out.");
  EXPECT_EQ((Error{.code = Code::kNotFound, .what = "gone", .where = "a", .expected = "a folder"}).ToString(),
            "a: gone; expected a folder");
  EXPECT_EQ(Error{.what = "gone"}.ToString(), "gone");
  EXPECT_EQ((Error{.what = "gone", .where = "a/b"}).ToString(), "a/b: gone");
}

TEST(ErrorTest, MessageStaysOneLineWhateverWasRead) {
  const Error error{.what = "bad", .where = "a\nb", .seen = "x\x1b[31m\\"};
  EXPECT_EQ(error.ToString(), "a\\x0ab: bad: got \"x\\x1b[31m\\\"");
  EXPECT_EQ(Printable(std::string(300, 'a')), std::string(200, 'a') + "...");
}

TEST(ShortenedTest, OnlyWhatIsLong) {
  EXPECT_EQ(Shortened(""), "");
  EXPECT_EQ(Shortened(std::string(512, 'x')), std::string(512, 'x'));
  EXPECT_EQ(Shortened(std::string(513, 'x')), std::string(512, 'x') + "... (513 bytes)");
}

}  // namespace
}  // namespace nccl_tune::base
