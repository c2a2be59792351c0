// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/port_race.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>

namespace nccl_tune::tests {
namespace {

constexpr std::uint32_t kPorts = 8;
constexpr std::uint32_t kProcesses = 8;

// In network namespaces of its own where that is possible: other tests of this machine look for ports too.
class PortRaceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const bool is_alone = unshare(CLONE_NEWNET) == 0;
    const auto first = static_cast<std::uint16_t>(is_alone ? 20'000 : 21'000 + getpid() % 800 * 8);
    race_ = new Race{.range = {.first = first, .last = static_cast<std::uint16_t>(first + kPorts - 1)},
                     .processes = kProcesses,
                     .users = {getuid(), getuid()}};
    if (CanBecome(2001) && CanBecome(2002)) race_->users = {2001, 2002};
    std::cout << (is_alone ? "own" : "the machine's") << " network, users " << race_->users[0] << " and "
              << race_->users[1] << "\n";
  }
  static void TearDownTestSuite() { delete race_; }

  static bool CanBecome(uid_t user) {
    Race trying{.range = race_->range, .processes = 1, .rounds = 1, .users = {user, user}, .claimer = ClaimNothing};
    return RunRace(trying).ok();
  }

  static RaceResult Run(std::uint32_t rounds, launcher::Claimer claimer) {
    Race race = *race_;
    race.rounds = rounds;
    race.claimer = claimer;
    const auto result = RunRace(race);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().ToString());
    const RaceResult counted = result.value_or({});
    EXPECT_EQ(counted.failure, "");
    std::cout << rounds << " rounds: " << counted.listened << " listened, " << counted.collisions << " collisions, "
              << counted.exhausted << " found no port\n";
    return counted;
  }

  static Race* race_;
};

Race* PortRaceTest::race_ = nullptr;

TEST_F(PortRaceTest, WithClaimsNoTwoTakeOnePort) {
  constexpr std::uint32_t kRounds = 1000;
  const RaceResult result = Run(kRounds, launcher::BindClaim);
  EXPECT_EQ(result.collisions, 0U);
  EXPECT_EQ(result.exhausted, 0U);
  EXPECT_EQ(result.listened, kRounds * kProcesses);
}

TEST_F(PortRaceTest, WithoutClaimsTheyDo) {
  constexpr std::uint32_t kRounds = 100;
  const RaceResult result = Run(kRounds, ClaimNothing);
  EXPECT_GT(result.collisions, 0U);
}

}  // namespace
}  // namespace nccl_tune::tests
