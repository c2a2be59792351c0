// SPDX-License-Identifier: Apache-2.0
#include "bench/end_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace nccl_tune::bench {
namespace {

using std::chrono::milliseconds;

EndSignals::Answers Say(milliseconds patience = milliseconds(0)) {
  return {.patience = [patience] { return patience; },
          .end = [](const std::string& text, int status) { std::cerr << text << " " << status << "\n"
                                                                     << std::flush; }};
}

// Sends a signal to a process that would go on for ever.
[[noreturn]] void EndBy(int number) {
  const EndSignals signals(Say());
  kill(getpid(), number);
  while (true) pause();
}

TEST(EndSignalsDeathTest, SaysWhichAndEndsByIt) {
  struct Case {
    int number;
    const char* text;
  };
  for (const Case& one :
       {Case{SIGTERM, "ended by signal 15 \\(Terminated\\) 143"}, Case{SIGINT, "ended by signal 2 \\(Interrupt\\) 130"},
        Case{SIGHUP, "ended by signal 1 \\(Hangup\\) 129"}}) {
    EXPECT_EXIT(EndBy(one.number), testing::KilledBySignal(one.number), one.text);
  }
}

TEST(EndSignalsDeathTest, LeavesAnIgnoredSignalAlone) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        const EndSignals signals(Say());
        kill(getpid(), SIGHUP);
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      testing::KilledBySignal(SIGTERM), "^ended by signal 15");
}

TEST(EndSignalsDeathTest, LeavesOtherSignalsAlone) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGALRM}) {
    EXPECT_EXIT(EndBy(number), testing::KilledBySignal(number), "^$");
  }
}

TEST(EndSignalsDeathTest, AnotherSignalThatAProgramHandlesDoesNotDeafen) {
  EXPECT_EXIT(
      {
        std::signal(SIGUSR2, [](int) {});
        const EndSignals signals(Say());
        kill(getpid(), SIGUSR2);
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      testing::KilledBySignal(SIGTERM), "^ended by signal 15");
}

TEST(EndSignalsDeathTest, AfterItsEndTheProcessKeepsItsOwnStatus) {
  EXPECT_EXIT(
      {
        { const EndSignals signals(Say()); }
        kill(getpid(), SIGTERM);
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST(EndSignalsDeathTest, WaitsAsLongAsItIsTold) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(
      {
        const EndSignals signals(Say(milliseconds(200)));
        kill(getpid(), SIGTERM);
        // Again, as srun and the job's end each send one.
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      testing::KilledBySignal(SIGTERM), "^ended by signal 15 \\(Terminated\\) 143\n$");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(EndSignalsDeathTest, ARunThatEndsMeanwhileKeepsItsOwnStatus) {
  EXPECT_EXIT(
      {
        {
          const EndSignals signals(Say(std::chrono::hours(1)));
          kill(getpid(), SIGTERM);
        }
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace nccl_tune::bench
