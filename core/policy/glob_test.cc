// SPDX-License-Identifier: Apache-2.0
#include "core/policy/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::policy {
namespace {

TEST(GlobTest, Matches) {
  const struct {
    const char* pattern;
    const char* text;
    bool matches;
  } kRows[] = {
      {"mlx5_0", "mlx5_0", true},
      {"mlx5_3", "mlx5_30", false},
      {"mlx5_*", "mlx5_", true},
      {"mlx5_*", "mlx5_bond_0", true},
      {"mlx5_?", "mlx5_30", false},
      {"*", "", true},
      {"?", "", false},
      {"*_0", "mlx5_bond_0", true},
      {"m*5_*0", "mlx5_30", true},
      {"m*5_*0", "mlx5_01", false},
      {"**", "a", true},
      {"a*b*c", "abbc", true},
      {"a*b*c", "ab", false},
      {"ENS*", "ens1", false},
      {"", "a", false},
      {"", "", true},
      {"a.b", "axb", false},
      {"mlx5_0:*", "mlx5_0:2", true},
  };
  for (const auto& row : kRows) EXPECT_EQ(MatchesGlob(row.pattern, row.text), row.matches) << row.pattern << row.text;
}

TEST(GlobTest, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(5000, 'a')));
}

TEST(GlobTest, GoodPatterns) {
  for (const char* good : {"mlx5_0", "*", "roceP2p1s0f?", "eth0.100", "eth0@if7", "NCCL_*", "mlx5_0:1", "br-1+2"}) {
    EXPECT_TRUE(CheckGlob(good).ok()) << good;
  }
}

TEST(GlobTest, BadPatternsSayWhy) {
  const std::string kLong(129, 'a');
  const struct {
    std::string pattern;
    std::string message;
  } kRows[] = {
      {"", "empty name: got \"\", expected a name; * is any text, ? any character"},
      {kLong, "name of 129 bytes: got \"" + kLong + "\", expected at most 128 bytes"},
      {"a,b", "several names in one text: got \"a,b\", expected one text a name"},
      {"mlx5_[0-3]",
       "brackets are no part of a name pattern: got \"mlx5_[0-3]\", expected letters, digits, * for any text, ? for a "
       "character"},
      {"{a}",
       "brackets are no part of a name pattern: got \"{a}\", expected letters, digits, * for any text, ? for a "
       "character"},
      {"^docker0", "names are exact here, without NCCL's signs: got \"^docker0\", expected docker0"},
      {"=eth0", "names are exact here, without NCCL's signs: got \"=eth0\", expected eth0"},
      {"a b", "a character that no name has: got \"a b\", expected letters, digits, _ - . : @ +, * and ?"},
      {" a", "a character that no name has: got \" a\", expected letters, digits, _ - . : @ +, * and ?"},
      {"a\n", "a character that no name has: got \"a\\x0a\", expected letters, digits, _ - . : @ +, * and ?"},
      {"mlx5_0;x", "a character that no name has: got \"mlx5_0;x\", expected letters, digits, _ - . : @ +, * and ?"},
      {"$(reboot)", "a character that no name has: got \"$(reboot)\", expected letters, digits, _ - . : @ +, * and ?"},
      {"../x", "a character that no name has: got \"../x\", expected letters, digits, _ - . : @ +, * and ?"},
      {"caf\xc3\xa9",
       "a character that no name has: got \"caf\\xc3\\xa9\", expected letters, digits, _ - . : @ +, * and ?"},
      {std::string("a\0b", 3),
       "a character that no name has: got \"a\\x00b\", expected letters, digits, _ - . : @ +, * and ?"},
  };
  for (const auto& row : kRows) {
    const auto got = CheckGlob(row.pattern);
    ASSERT_FALSE(got.ok()) << row.pattern;
    EXPECT_EQ(got.error().ToString(), row.message);
  }
}

}  // namespace
}  // namespace nccl_tune::policy
