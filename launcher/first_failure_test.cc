// SPDX-License-Identifier: Apache-2.0
#include "launcher/first_failure.h"

#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;

const FirstFailure::Time kStart{};

RankEnd Ended(std::uint32_t rank, double seconds, int code) {
  return {.rank = rank, .node = "n", .pid = 1, .exit_code = code, .seconds = seconds};
}

TEST(FirstFailure, NothingFailedNothingIsDue) {
  FirstFailure judge;
  EXPECT_EQ(judge.due(), std::nullopt);
  EXPECT_FALSE(judge.Decide(kStart + std::chrono::hours(1)).has_value());
}

TEST(FirstFailure, EarlierEndThatArrivesLaterIsTheFirst) {
  FirstFailure judge;
  judge.AddEnd(Ended(4, 12.5, 1), kStart);
  judge.AddEnd(Ended(3, 12.1, 7), kStart + milliseconds(100));
  judge.AddEnd(Ended(0, 12.6, 1), kStart + milliseconds(200));
  EXPECT_FALSE(judge.Decide(kStart + milliseconds(299)).has_value());
  const auto failure = judge.Decide(kStart + milliseconds(300));
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, FailureKind::kRankEnded);
  EXPECT_EQ(failure->first->rank, 3U);
  ASSERT_EQ(failure->later.size(), 1U);
  EXPECT_EQ(failure->later[0].ranks, (std::vector<std::uint32_t>{4, 0}));
  EXPECT_EQ(failure->later[0].what, "ended with exit code 1");
  EXPECT_EQ(FirstFailure::StatusOf(*failure), 7);
}

TEST(FirstFailure, IsSaidOnce) {
  FirstFailure judge;
  judge.AddEnd(Ended(1, 1, 1), kStart);
  ASSERT_TRUE(judge.Decide(kStart + FirstFailure::kSettle).has_value());
  judge.AddEnd(Ended(0, 0.5, 1), kStart + milliseconds(400));
  EXPECT_EQ(judge.due(), std::nullopt);
  EXPECT_FALSE(judge.Decide(kStart + std::chrono::hours(1)).has_value());
}

TEST(FirstFailure, SameMomentLowestRankFirst) {
  FirstFailure judge;
  judge.AddEnd(Ended(5, 1, 1), kStart);
  judge.AddEnd(Ended(2, 1, 1), kStart);
  EXPECT_EQ(judge.Decide(kStart + FirstFailure::kSettle)->first->rank, 2U);
}

TEST(FirstFailure, LostNodeStandsBeforeTheRanksThatFailedForIt) {
  FirstFailure judge;
  judge.AddEnd(Ended(0, 3, 1), kStart);
  judge.AddLost({"server3", "server2"}, kStart);
  judge.AddLost({"server2"}, kStart);
  const auto failure = judge.Decide(kStart + FirstFailure::kSettle);
  EXPECT_EQ(failure->kind, FailureKind::kNodeLost);
  EXPECT_EQ(failure->unreached, (std::vector<std::string>{"server2", "server3"}));
  EXPECT_EQ(FirstFailure::StatusOf(*failure), 137);
}

TEST(FirstFailure, StatusIsWhatSrunMakesOfIt) {
  EXPECT_EQ(StatusOf({.exit_code = 3}), 3);
  EXPECT_EQ(StatusOf({.signal = 11}), 139);
  EXPECT_EQ(FirstFailure::StatusOf({.kind = FailureKind::kTimeout}), 124);
  EXPECT_EQ(FirstFailure::StatusOf({.kind = FailureKind::kHang}), 124);
}

TEST(FirstFailure, ManyEndsAreBoundedAndTheFirstIsKept) {
  FirstFailure judge;
  for (std::uint32_t rank = 0; rank < 100'000; ++rank) judge.AddEnd(Ended(rank, 200'000.0 - rank, 1), kStart);
  const auto failure = judge.Decide(kStart + FirstFailure::kSettle);
  EXPECT_EQ(failure->first->rank, 99'999U);
  EXPECT_LE(failure->later.size(), FirstFailure::kMostLater);
}

}  // namespace
}  // namespace nccl_tune::launcher
