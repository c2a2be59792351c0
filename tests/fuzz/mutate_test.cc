// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <gtest/gtest.h>

#include <set>

namespace nccl_tune::fuzz {
namespace {

TEST(MutateTest, TheSameNumberGivesTheSameText) {
  const std::vector<std::string> texts = {"one", "another text", ""};
  for (std::uint32_t number = 0; number < 100; ++number) {
    EXPECT_EQ(Mutation(texts, number), Mutation(texts, number)) << number;
  }
}

TEST(MutateTest, NumbersGiveManyTexts) {
  const std::vector<std::string> texts = {"a text of some length"};
  std::set<std::string> seen;
  for (std::uint32_t number = 0; number < 1000; ++number) seen.insert(Mutation(texts, number));
  EXPECT_GT(seen.size(), 800u);
}

TEST(MutateTest, NothingAndLongTextsWillDo) {
  const std::string longest(kMutationLimit, 'x');
  for (std::uint32_t number = 0; number < 200; ++number) {
    EXPECT_LE(Mutation({""}, number).size(), kMutationLimit);
    EXPECT_LE(Mutation({longest, ""}, number).size(), kMutationLimit);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz
