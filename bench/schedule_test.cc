// SPDX-License-Identifier: Apache-2.0
#include "bench/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ScheduleTest, MeetsEachPairOnce) {
  for (std::uint64_t nodes = 0; nodes <= 33; ++nodes) {
    SCOPED_TRACE(nodes);
    const auto rounds = Rounds(nodes);
    EXPECT_EQ(rounds.size(), RoundCount(nodes));
    std::set<Pair> met;
    for (const auto& round : rounds) {
      std::set<std::uint64_t> busy;
      EXPECT_EQ(round.size(), nodes / 2);
      for (const Pair& pair : round) {
        EXPECT_LT(pair.first, pair.second);
        EXPECT_LT(pair.second, nodes);
        EXPECT_TRUE(busy.insert(pair.first).second && busy.insert(pair.second).second);
        EXPECT_TRUE(met.insert(pair).second);
      }
    }
    EXPECT_EQ(met.size(), nodes < 2 ? 0 : nodes * (nodes - 1) / 2);
  }
}

TEST(ScheduleTest, NeedsFewRounds) {
  struct Case {
    std::uint64_t nodes;
    std::uint64_t rounds;
  };
  for (const Case& one : std::vector<Case>{{0, 0}, {1, 0}, {2, 1}, {3, 3}, {4, 3}, {5, 5}, {16384, 16383}}) {
    EXPECT_EQ(RoundCount(one.nodes), one.rounds);
  }
  EXPECT_THAT(Rounds(1), IsEmpty());
  EXPECT_THAT(Round(2, 0), ElementsAre(Pair{.first = 0, .second = 1}));
  EXPECT_EQ(Round(16384, 16382).size(), 8192U);
}

TEST(ScheduleTest, FindsWhatIsGood) {
  struct Case {
    std::vector<double> values;
    double good;
  };
  for (const Case& one : std::vector<Case>{{{}, 0},
                                           {{7}, 7},
                                           {{10, 5}, 10},
                                           {{9, 10}, 10},
                                           {{10, 9, 11}, 10},
                                           {{0, 0}, 0},
                                           {{0, 0, 3}, 3},             // two that failed
                                           {{5, 5, 10}, 10},           // one bad node of three
                                           {{5, 5, 5, 5, 5, 10}, 10},  // two of four
                                           {{5, 5, 5, 6, 6, 6}, 6},    // within the tolerance
                                           {{2, 2, 2, 5, 5, 20, 5, 5}, 20},
                                           {{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 10}, 5}}) {  // a faster one
    EXPECT_EQ(GoodValue(one.values, 0.8), one.good);
  }
}

}  // namespace
}  // namespace nccl_tune::bench
