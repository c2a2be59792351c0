// SPDX-License-Identifier: Apache-2.0
#include "report/wrap.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::report {
namespace {

TEST(WrapTest, PutsTextInItsColumn) {
  EXPECT_EQ(Wrap("why", 8, "the only port"), "why     the only port\n");
  EXPECT_EQ(Wrap("", 4, "x"), "    x\n");
  EXPECT_EQ(Wrap("a long label", 4, "x"), "a long label x\n");
  EXPECT_EQ(Wrap("why", 8, ""), "why\n");
}

TEST(WrapTest, BreaksAtBlanksWithinTheWidth) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  const std::string got = Wrap("why", 8, text);
  for (std::size_t at = 0; at < got.size();) {
    const auto end = got.find('\n', at);
    EXPECT_LE(end - at, kWidth);
    if (at > 0) {
      EXPECT_EQ(got.substr(at, 8), "        ");
    }
    at = end + 1;
  }
}

TEST(WrapTest, KeepsAWordWholeAndEscapesBytes) {
  const std::string word(100, 'x');
  EXPECT_EQ(Wrap("", 2, word + " y"), "  " + word + "\n  y\n");
  EXPECT_EQ(Wrap("", 0, "a\x1b[31mb\nc"), "a\\x1b[31mb\\x0ac\n");
}

TEST(WrapTest, ShowsALongValueWhole) {
  const std::string value = "=" + std::string(400, 'x');
  EXPECT_EQ(Wrap("V", 4, value), "V   " + value + "\n");
  EXPECT_EQ(Wrap("", 0, std::string(300, '\x01')).size(), 4 * 300u + 1);
}

TEST(WrapTest, ALabelIsEscapedAndLeavesItsLineWhenThereIsNoRoom) {
  EXPECT_EQ(Wrap("a\x1b[31m", 4, "x"), "a\\x1b[31m x\n");
  const std::string label(78, 'x');
  EXPECT_EQ(Wrap(label, 4, "ab cd"), label + "\n    ab cd\n");
  EXPECT_EQ(Wrap(label, 4, "a cd"), label + " a\n    cd\n");
}

}  // namespace
}  // namespace nccl_tune::report
