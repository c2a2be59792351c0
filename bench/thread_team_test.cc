// SPDX-License-Identifier: Apache-2.0
#include "bench/thread_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace nccl_tune::bench {
namespace {

using Values = ThreadTeam::Values;

double Sum(double a, double b) { return a + b; }
double Greatest(double a, double b) { return std::max(a, b); }
base::Result<Values> AsIs(const Values& values) { return values; }

TEST(ThreadTeam, OneThreadMeetsItself) {
  ThreadTeam team(1);
  const auto met = team.Meet({2, 3}, Sum, [](const Values& values) { return base::Result<Values>({values[0] * 10}); });
  ASSERT_TRUE(met.ok());
  EXPECT_EQ(*met, Values{20});
}

TEST(ThreadTeam, EveryThreadGetsEachRoundsAnswer) {
  constexpr std::size_t kThreads = 4;
  ThreadTeam team(kThreads);
  std::atomic<int> wrong = 0;
  std::atomic<int> finishes = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 1000; ++round) {
        const double own = static_cast<double>(t) + round;
        const auto sum = team.Meet({own}, Sum, [&](const Values& values) {
          ++finishes;
          return AsIs(values);
        });
        if (!sum.ok() || *sum != Values{6.0 + 4.0 * round}) ++wrong;
        const auto most = team.Meet({own, -own}, Greatest, AsIs);
        if (!most.ok() || *most != Values{3.0 + round, -static_cast<double>(round)}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(finishes, 1000);
}

TEST(ThreadTeam, AnErrorReachesAllAndTheNextRoundIsClean) {
  ThreadTeam team(2);
  std::atomic<int> errors = 0;
  const auto work = [&] {
    const auto fails = [](const Values&) -> base::Result<Values> { return base::Error{.what = "gone"}; };
    const auto first = team.Meet({1}, Sum, fails);
    if (!first.ok() && first.error().what == "gone") ++errors;
    const auto second = team.Meet({1}, Sum, AsIs);
    EXPECT_TRUE(second.ok());
    EXPECT_EQ(*second, Values{2});
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(errors, 2);
}

TEST(ThreadTeam, ListsOfDifferentLengthsAreAnErrorForAll) {
  ThreadTeam team(2);
  std::atomic<int> errors = 0;
  const auto work = [&](const Values& own) {
    const auto met = team.Meet(own, Sum, AsIs);
    if (!met.ok() && met.error().what == "the threads bring lists of different lengths") ++errors;
    EXPECT_EQ(team.Meet({1}, Sum, AsIs).value_or({}), Values{2});
  };
  std::thread other(work, Values{1, 2});
  work({1});
  other.join();
  EXPECT_EQ(errors, 2);
}

TEST(ThreadTeam, BreakFreesWhoWaitsAndWhoComesLater) {
  constexpr std::size_t kThreads = 4;
  ThreadTeam team(kThreads);
  std::atomic<int> freed = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t + 1 < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) {
        const auto met = team.Meet({1}, Sum, AsIs);
        if (!met.ok() && met.error().ToString() == "another thread has ended the run") ++freed;
      }
    });
  }
  team.Break();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(freed, 6);
  EXPECT_FALSE(team.Meet({1}, Sum, AsIs).ok());
}

// What asks the other processes may hang with them.
TEST(ThreadTeam, BreakDoesNotWaitForTheOneThatFinishes) {
  ThreadTeam team(2);
  std::atomic<int> errors = 0;
  std::promise<void> inside;
  std::promise<void> broken;
  const auto work = [&] {
    const auto met = team.Meet({1}, Sum, [&](const Values& values) {
      inside.set_value();
      broken.get_future().wait();
      return AsIs(values);
    });
    if (!met.ok()) ++errors;
  };
  std::thread one(work);
  std::thread other(work);
  inside.get_future().wait();
  team.Break();
  broken.set_value();
  one.join();
  other.join();
  EXPECT_EQ(errors, 2);
}

}  // namespace
}  // namespace nccl_tune::bench
