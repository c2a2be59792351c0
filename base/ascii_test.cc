// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.h"

#include <gtest/gtest.h>

namespace nccl_tune::base {
namespace {

TEST(AsciiTest, LowersOnlyLetters) {
  EXPECT_EQ(LowerAscii(std::string_view("NodeName=A-Z_[0]{\xc4}")), "nodename=a-z_[0]{\xc4}");
  EXPECT_EQ(LowerAscii(std::string_view("")), "");
}

TEST(AsciiTest, Equality) {
  EXPECT_TRUE(EqualsIgnoringCase("Socket", "sOCKET"));
  EXPECT_TRUE(EqualsIgnoringCase("", ""));
  for (const char* other : {"", "Socke", "Sockets", "Socket ", "S0cket"}) EXPECT_FALSE(EqualsIgnoringCase("Socket", other));
  EXPECT_FALSE(EqualsIgnoringCase("[", "{")) << "these differ in the bit that letters of both cases differ in";
}

}  // namespace
}  // namespace nccl_tune::base
