// SPDX-License-Identifier: Apache-2.0
#include "bench/watchdog.h"

#include <gtest/gtest.h>

#include <future>

namespace nccl_tune::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(WatchdogTest, TellsOfACallThatDoesNotEnd) {
  std::promise<void> told;
  Watchdog dog(milliseconds(20), [&] { told.set_value(); });
  const Watched watched(&dog);
  EXPECT_EQ(told.get_future().wait_for(hours(1)), std::future_status::ready);
}

TEST(WatchdogTest, IsSilentWithoutACallAndAfterIt) {
  int told = 0;
  {
    Watchdog dog(milliseconds(1), [&] { ++told; });
    { const Watched watched(nullptr); }
    std::promise<void> never;
    EXPECT_EQ(never.get_future().wait_for(milliseconds(20)), std::future_status::timeout);
  }
  EXPECT_EQ(told, 0);
  {
    Watchdog dog(hours(1), [&] { ++told; });
    for (int i = 0; i < 1000; ++i) const Watched watched(&dog);
  }
  EXPECT_EQ(told, 0);
}

TEST(WatchdogTest, CallsWithoutAnEndBetweenThemCountAsOne) {
  std::promise<void> told;
  Watchdog dog(milliseconds(50), [&] { told.set_value(); });
  auto future = told.get_future();
  while (future.wait_for(milliseconds(1)) != std::future_status::ready) dog.Begin();
}

TEST(WatchdogTest, CountsFromTheFirstBeginAfterAnEnd) {
  std::promise<void> told;
  Watchdog dog(milliseconds(50), [&] { told.set_value(); });
  auto future = told.get_future();
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < milliseconds(120)) const Watched watched(&dog);
  EXPECT_EQ(future.wait_for(milliseconds(0)), std::future_status::timeout);
  const Watched watched(&dog);
  EXPECT_EQ(future.wait_for(hours(1)), std::future_status::ready);
}

}  // namespace
}  // namespace nccl_tune::bench
