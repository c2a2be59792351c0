// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Tree, EveryNodeIsAChildOfItsParentAndReachedOnce) {
  for (const std::uint32_t count : {1U, 2U, 3U, 16U, 17U, 18U, 273U, 274U, 5000U, 16384U}) {
    std::uint32_t children = 0;
    for (std::uint32_t node = 0; node < count; ++node) {
      for (const std::uint32_t child : ChildrenOf(node, count)) {
        EXPECT_EQ(ParentOf(child), node);
        ++children;
      }
    }
    EXPECT_EQ(children, count - 1);
    EXPECT_EQ(SizeOf(0, count), count);
  }
}

TEST(Tree, SizeIsTheSumOfTheChildrens) {
  constexpr std::uint32_t kCount = 1000;
  for (std::uint32_t node = 0; node < kCount; ++node) {
    std::uint32_t sum = 1;
    for (const std::uint32_t child : ChildrenOf(node, kCount)) sum += SizeOf(child, kCount);
    EXPECT_EQ(SizeOf(node, kCount), sum) << node;
  }
}

TEST(Tree, HeightIsOneMoreThanTheHighestChilds) {
  constexpr std::uint32_t kCount = 1000;
  for (std::uint32_t node = 0; node < kCount; ++node) {
    std::uint32_t height = 0;
    for (const std::uint32_t child : ChildrenOf(node, kCount)) height = std::max(height, HeightOf(child, kCount) + 1);
    EXPECT_EQ(HeightOf(node, kCount), height) << node;
  }
  EXPECT_EQ(HeightOf(0, 16384), 4U);
  EXPECT_EQ(HeightOf(0, 1), 0U);
}

TEST(Tree, SmallSteps) {
  EXPECT_EQ(ParentOf(0), std::nullopt);
  EXPECT_THAT(ChildrenOf(0, 3), ElementsAre(1U, 2U));
  EXPECT_THAT(ChildrenOf(0, 1), IsEmpty());
  EXPECT_THAT(ChildrenOf(4294967295U, 4294967295U), IsEmpty());
}

TEST(Tree, RingReachesEveryNodeOnce) {
  EXPECT_EQ(NextInRing(0, 1), std::nullopt);
  EXPECT_EQ(NextInRing(0, 2), 1U);
  EXPECT_EQ(NextInRing(2, 3), 0U);
}

TEST(Tree, FirstRanksOfABlockDistribution) {
  EXPECT_THAT(FirstRanksBlock({2, 2, 1}), ElementsAre(0U, 2U, 4U));
  EXPECT_THAT(FirstRanksBlock({}), IsEmpty());
}

}  // namespace
}  // namespace nccl_tune::launcher
