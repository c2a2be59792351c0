// SPDX-License-Identifier: Apache-2.0
#include "bench/host_memory.h"

#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

TEST(HostMemoryTest, FindsTheLine) {
  EXPECT_EQ(AvailableMemory("MemTotal:  9 kB\nMemAvailable:    7 kB\nBuffers: 1 kB\n"), 7 * 1024U);
  EXPECT_EQ(AvailableMemory("MemAvailable:    7 kB"), 7 * 1024U);
}

TEST(HostMemoryTest, OtherTextsGiveNothing) {
  for (const char* text : {"", "MemTotal: 9 kB\n", "MemAvailable:\n", "MemAvailable: kB\n", "MemAvailable: 7\n",
                           "MemAvailable: 7 MB\n", "MemAvailable: -7 kB\n", "XMemAvailable: 7 kB\n",
                           "MemAvailable: 99999999999999999999 kB\n", "MemAvailable: 18446744073709551615 kB\n"}) {
    EXPECT_EQ(AvailableMemory(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
