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

}  // namespace
}  // namespace nccl_tune::report
