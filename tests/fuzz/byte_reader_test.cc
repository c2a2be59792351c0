// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/byte_reader.h"

#include <gtest/gtest.h>

namespace nccl_tune::fuzz {
namespace {

ByteReader Reader(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

TEST(ByteReaderTest, TakesInOrder) {
  ByteReader bytes = Reader(
      "\x05\x01\x01\x02\x03\x04\x02"
      "abline\nrest");
  EXPECT_EQ(bytes.Below(3), 2u);
  EXPECT_TRUE(bytes.Flag());
  EXPECT_EQ(bytes.Word(), 0x01020304u);
  EXPECT_EQ(bytes.Text(10), "ab");
  EXPECT_EQ(bytes.Line(), "line");
  EXPECT_FALSE(bytes.AtEnd());
  EXPECT_EQ(bytes.Rest(), "rest");
  EXPECT_TRUE(bytes.AtEnd());
}

TEST(ByteReaderTest, TheEndIsZeroes) {
  ByteReader bytes = Reader("");
  EXPECT_EQ(bytes.Byte(), 0);
  EXPECT_EQ(bytes.Below(7), 0u);
  EXPECT_FALSE(bytes.Flag());
  EXPECT_EQ(bytes.Word(), 0u);
  EXPECT_EQ(bytes.Text(10), "");
  EXPECT_EQ(bytes.Line(), "");
  EXPECT_EQ(bytes.Rest(), "");
}

TEST(ByteReaderTest, TextStaysWithinTheLimitAndTheInput) {
  EXPECT_EQ(Reader("\xff"
                   "abcdef")
                .Text(3),
            "abc");
  EXPECT_EQ(Reader("\xff"
                   "ab")
                .Text(10),
            "ab");
  EXPECT_EQ(Reader("\x02").Text(10), "");
  EXPECT_EQ(Reader("no end").Line(), "no end");
}

}  // namespace
}  // namespace nccl_tune::fuzz
