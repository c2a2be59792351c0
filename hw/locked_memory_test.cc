// SPDX-License-Identifier: Apache-2.0
#include "hw/locked_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace nccl_tune::hw {
namespace {

TEST(LockedMemoryTest, FollowsTheLimit) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  const auto before = OwnLockedMemory();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->bytes.has_value(), limit.rlim_cur != RLIM_INFINITY);
  for (const rlim_t bytes : {rlim_t{65536}, rlim_t{4096}, rlim_t{0}}) {
    if (bytes > limit.rlim_max) continue;
    const rlimit lower{.rlim_cur = bytes, .rlim_max = limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &lower), 0);
    EXPECT_EQ(OwnLockedMemory()->bytes, bytes);
  }
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

}  // namespace
}  // namespace nccl_tune::hw
