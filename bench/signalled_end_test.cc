// SPDX-License-Identifier: Apache-2.0
#include "bench/signalled_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "bench/host_name.h"
#include "bench/simulated_backend.h"

namespace nccl_tune::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Tells what it was asked.
class ToldBackend : public SimulatedBackend {
 public:
  ToldBackend() : SimulatedBackend({}, {}) {}
  void Abort(int code) override { std::cerr << "abort " << code << "\n" << std::flush; }
};

SignalledEnd::Parts PartsOf(Backend& backend, std::uint64_t rank, std::uint64_t ranks, milliseconds patience) {
  return {.backend = &backend,
          .rank = rank,
          .ranks = ranks,
          .fail = [](const std::string& text) { std::cerr << "fail " << text << "\n"
                                                          << std::flush; },
          .note = [](const std::string& text) { std::cerr << "note " << text << "\n"
                                                          << std::flush; },
          .patience = patience};
}

// A process that would go on for ever, and gets SIGTERM.
[[noreturn]] void EndAs(std::uint64_t rank, std::uint64_t ranks, milliseconds patience) {
  ToldBackend backend;
  const SignalledEnd end(PartsOf(backend, rank, ranks, patience));
  kill(getpid(), SIGTERM);
  while (true) pause();
}

const char* const kWhy = "ended by signal 15 \\(Terminated\\)\n";

TEST(SignalledEndDeathTest, ProcessZeroKeepsThenSpeaksThenEndsAll) {
  EXPECT_EXIT(EndAs(0, 3, hours(1)), testing::KilledBySignal(SIGTERM),
              std::string("^fail ") + kWhy + "note " + HostName() + ": " + kWhy + "abort 143\n$");
}

TEST(SignalledEndDeathTest, AnotherDoesTheSameAfterItsPatience) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(EndAs(1, 3, milliseconds(150)), testing::KilledBySignal(SIGTERM),
              std::string("^fail ") + kWhy + "note " + HostName() + ": " + kWhy + "abort 143\n$");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(SignalledEndDeathTest, AnotherIsSilentWhenItIsEndedMeanwhile) {
  EXPECT_EXIT(
      {
        ToldBackend backend;
        const SignalledEnd end(PartsOf(backend, 1, 3, hours(1)));
        kill(getpid(), SIGTERM);
        std::this_thread::sleep_for(milliseconds(50));
        kill(getpid(), SIGKILL);
        while (true) pause();
      },
      testing::KilledBySignal(SIGKILL), "^$");
}

TEST(SignalledEndDeathTest, AloneThereIsNobodyToEnd) {
  EXPECT_EXIT(EndAs(0, 1, hours(1)), testing::KilledBySignal(SIGTERM),
              std::string("^fail ") + kWhy + "note " + HostName() + ": " + kWhy + "$");
}

TEST(SignalledEndDeathTest, WhatIsConcludedEndsWithItsStatusAtOnce) {
  for (const std::uint64_t rank : {0U, 1U}) {
    EXPECT_EXIT(
        {
          ToldBackend backend;
          SignalledEnd end(PartsOf(backend, rank, 3, hours(1)));
          end.Conclude(7);
          kill(getpid(), SIGTERM);
          while (true) pause();
        },
        testing::ExitedWithCode(7), "^$");
  }
}

TEST(SignalledEndDeathTest, WhatBreaksMeanwhileIsHeld) {
  EXPECT_EXIT(
      {
        ToldBackend backend;
        std::atomic<const SignalledEnd*> self = nullptr;
        SignalledEnd::Parts parts = PartsOf(backend, 0, 2, hours(1));
        std::thread broken;
        parts.note = [&](const std::string&) {
          broken = std::thread([&] {
            self.load()->Hold();
            std::cerr << "told of the failure\n" << std::flush;
          });
          std::this_thread::sleep_for(milliseconds(100));
        };
        const SignalledEnd end(parts);
        self = &end;
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      testing::KilledBySignal(SIGTERM), std::string("^fail ") + kWhy + "abort 143\n$");
}

TEST(SignalledEndTest, HoldsNothingWithoutASignal) {
  ToldBackend backend;
  const SignalledEnd end(PartsOf(backend, 0, 2, hours(1)));
  end.Hold();
}

TEST(SignalledEndTest, PatienceGrowsWithTheRankAndEnds) {
  EXPECT_EQ(SignalledEnd::Patience(milliseconds(5000), 0), milliseconds(0));
  EXPECT_EQ(SignalledEnd::Patience(milliseconds(5000), 1), milliseconds(5050));
  EXPECT_EQ(SignalledEnd::Patience(milliseconds(5000), 99), milliseconds(9950));
  for (const std::uint64_t rank : {200ULL, 100000ULL, ~0ULL}) {
    EXPECT_EQ(SignalledEnd::Patience(milliseconds(5000), rank), milliseconds(15000));
  }
}

}  // namespace
}  // namespace nccl_tune::bench
