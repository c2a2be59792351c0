// SPDX-License-Identifier: Apache-2.0
#include "bench/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/drawn.h"

namespace nccl_tune::bench {
namespace {

template <std::uint32_t kCycle>
void ExpectPlain(std::uint64_t ranks, std::uint64_t most, SameParity parity) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, at most " + std::to_string(most));
  const Steps<kCycle> steps(ranks, most, parity);
  for (std::uint64_t index = 0; index < 50; ++index) {
    const std::uint64_t mix = Mix(3, index);
    std::vector<std::uint32_t> contributed;
    std::uint64_t sum = 0;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t step = steps.Of(mix, rank);
      if (step == 0) continue;
      if (parity == SameParity::kYes) {
        EXPECT_EQ(rank % 2, steps.First(mix) % 2);
      }
      EXPECT_EQ(step, steps.Nth(mix, static_cast<std::uint32_t>(contributed.size())));
      if (contributed.empty()) {
        EXPECT_EQ(rank, steps.First(mix));
      }
      contributed.push_back(step);
      sum += step;
    }
    ASSERT_FALSE(contributed.empty());
    EXPECT_LE(contributed.size(), most);
    EXPECT_EQ(contributed.size(), steps.Count(mix));
    EXPECT_EQ(sum, steps.Sum(mix));
    EXPECT_EQ(*std::max_element(contributed.begin(), contributed.end()), steps.Greatest(mix));
  }
}

TEST(StepsTest, ClosedFormulasAreThePlainOnes) {
  for (const std::uint64_t ranks : {1U, 2U, 3U, 6U, 7U, 8U, 13U, 14U, 63U, 64U, 100U, 1000U}) {
    for (const std::uint64_t most : {2U, 3U, 6U, 7U, 8U, 36U, 2000U}) {
      ExpectPlain<7>(ranks, most, SameParity::kNo);
      ExpectPlain<7>(ranks, most, SameParity::kYes);
      ExpectPlain<2>(ranks, most, SameParity::kNo);
      ExpectPlain<2>(ranks, most, SameParity::kYes);
    }
    ExpectPlain<7>(ranks, 1, SameParity::kNo);
  }
}

TEST(StepsTest, EveryRankContributesToSomeElement) {
  constexpr std::uint64_t kRanks = 1000;
  const Steps<2> steps(kRanks, 4, SameParity::kNo);
  std::vector<bool> contributes(kRanks);
  for (std::uint64_t index = 0; index < 5000; ++index) {
    for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
      if (steps.Of(Mix(1, index), rank) != 0) contributes[rank] = true;
    }
  }
  EXPECT_EQ(std::count(contributes.begin(), contributes.end(), true), kRanks);
}

}  // namespace
}  // namespace nccl_tune::bench
