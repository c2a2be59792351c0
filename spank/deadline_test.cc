// SPDX-License-Identifier: Apache-2.0
#include "spank/deadline.h"

#include <gtest/gtest.h>

namespace nccl_tune::spank {
namespace {

TEST(RemainingTest, NeverBelowNothing) {
  EXPECT_EQ(Remaining(Clock::now() - std::chrono::hours(1)), 0);
  const int hour = Remaining(Clock::now() + std::chrono::hours(1));
  EXPECT_GT(hour, 3500 * 1000);
  EXPECT_LE(hour, 3600 * 1000);
}

}  // namespace
}  // namespace nccl_tune::spank
