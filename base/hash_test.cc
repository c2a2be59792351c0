// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::base {
namespace {

using namespace std::string_view_literals;

// The published values of FNV-1a.
TEST(HashTest, KnownValues) {
  struct Case {
    std::string_view text;
    std::uint64_t value;
  };
  for (const Case& one : {Case{"", 0xcbf29ce484222325U}, Case{"a", 0xaf63dc4c8601ec8cU},
                          Case{"foobar", 0x85944171f73967e8U}, Case{"\0"sv, 0xaf63bd4c8601b7dfU}}) {
    EXPECT_EQ(HashText(one.text), one.value) << one.text;
  }
}

TEST(HashTest, BytesAbove127AreUnsigned) {
  EXPECT_EQ(HashText("\xff"), (0xcbf29ce484222325U ^ 0xffU) * 0x100000001b3U);
}

TEST(HashTest, APartAtATime) { EXPECT_EQ(Hash().Add("foo").Add("bar").value(), HashText("foobar")); }

TEST(HashTest, ANumberIsItsBytes) {
  EXPECT_EQ(Hash().Add(0x0807060504030201U).value(), HashText("\x01\x02\x03\x04\x05\x06\x07\x08"));
  EXPECT_EQ(Hash().Add(std::uint64_t{0}).value(), HashText(std::string(8, '\0')));
}

TEST(HashTest, WhatDiffersHasAnotherNumber) {
  EXPECT_NE(Hash().Add(std::uint64_t{1}).Add(std::uint64_t{2}).value(),
            Hash().Add(std::uint64_t{2}).Add(std::uint64_t{1}).value());
  EXPECT_NE(Hash().Add(std::uint64_t{1}).value(), Hash().Add(std::uint64_t{1} << 56U).value());
  EXPECT_NE(HashText("ab"), HashText("ba"));
  EXPECT_NE(HashText("a"), HashText("a\0"sv));
}

}  // namespace
}  // namespace nccl_tune::base
