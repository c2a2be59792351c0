// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(LineTracker, BytesGoThroughUnchangedWithoutATag) {
  LineTracker tracker;
  const std::string odd("half a line\0 \xff\r 50%\n\n", 21);
  EXPECT_EQ(tracker.Feed(odd), odd);
  EXPECT_EQ(tracker.Flush(), "");
}

TEST(LineTracker, LinesComeWholeWhereverTheyAreCut) {
  const std::string text = "first\nsecond line\n\nlast";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineTracker tracker;
    tracker.Feed(text.substr(0, cut));
    tracker.Feed(text.substr(cut));
    EXPECT_THAT(tracker.LastLines(), ElementsAre("first", "second line", "last")) << cut;
  }
}

TEST(LineTracker, EveryLineIsTaggedOnceWhereverItIsCut) {
  const std::string text = "a\nbb\n\nc";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineTracker tracker("[rank 7] ");
    std::string out = tracker.Feed(text.substr(0, cut));
    out += tracker.Feed(text.substr(cut));
    out += tracker.Flush();
    EXPECT_EQ(out, "[rank 7] a\n[rank 7] bb\n[rank 7] \n[rank 7] c") << cut;
  }
}

TEST(LineTracker, FlushedPartOfALineIsTaggedOnce) {
  LineTracker tracker("[rank 0] ");
  EXPECT_EQ(tracker.Feed("pro"), "");
  EXPECT_TRUE(tracker.holding());
  EXPECT_EQ(tracker.Flush(), "[rank 0] pro");
  EXPECT_EQ(tracker.Flush(), "");
  EXPECT_EQ(tracker.Feed("gress\nnext\n"), "gress\n[rank 0] next\n");
}

TEST(LineTracker, TaggedLineWithoutAnEndIsBounded) {
  LineTracker tracker("[rank 0] ");
  const std::string out = tracker.Feed(std::string(LineTracker::kLongestTagged + 1, 'x'));
  EXPECT_EQ(out.size(), LineTracker::kLongestTagged + 1 + 9);
}

TEST(LineTracker, OnlyTheLastLinesAreKeptAndEachIsCut) {
  LineTracker tracker;
  for (int count = 0; count < 1000; ++count) tracker.Feed("line " + std::to_string(count) + "\n");
  EXPECT_THAT(tracker.LastLines(), SizeIs(LineTracker::kKeptLines));
  EXPECT_EQ(tracker.LastLines().back(), "line 999");
  tracker.Feed(std::string(1'000'000, 'x'));
  EXPECT_THAT(tracker.LastLines(), SizeIs(LineTracker::kKeptLines));
  EXPECT_EQ(tracker.LastLines().back(), std::string(LineTracker::kKeptBytes, 'x'));
}

TEST(LineTracker, CarriageReturnEndsALineForTheReport) {
  LineTracker tracker;
  tracker.Feed("epoch 1\repoch 2\repoch 3");
  EXPECT_THAT(tracker.LastLines(), ElementsAre("epoch 1", "epoch 2", "epoch 3"));
}

struct Said {
  const char* text;
  const char* expected;
};

TEST(LineTracker, WhatNcclSaidLast) {
  constexpr const char* kWarning = "n1:12:34 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion";
  const std::vector<Said> table = {
      {"n1:12:34 [0] NCCL INFO Bootstrap : Using ens1\nother\n", "n1:12:34 [0] NCCL INFO Bootstrap : Using ens1"},
      {"n1:12:34 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion\nn1:12:34 [0] NCCL INFO transport.cc:1 -> 6\n",
       kWarning},
      {"n1:12:34 [0] misc NCCL WARN first\nn1:12:34 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion\n", kWarning},
      {"n1:12:34 [0] NCCL INFO unfinished", nullptr},
      {"RuntimeError: NCCL error\n", "RuntimeError: NCCL error"},
      {"[rank1]: ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n[rank1]: Last error:\n"
       "[rank1]: Duplicate GPU detected : rank 1 and rank 0\n[rank1]: Exception of NCCL watchdog\n",
       "[rank1]: Duplicate GPU detected : rank 1 and rank 0"},
      {"n1:12:34 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion\nLast error:\nNET/IB : Got completion\n", kWarning},
      {"Last error:\n\nNET/IB : Got completion\nother\n", "NET/IB : Got completion"},
      {"Last error:\nLast error:\nsecond\n", "second"},
      {"Last error:", nullptr},
      {"Last error: none\nother\n", nullptr},
      {"NCCLX is not it\nmyNCCL INFO\n", nullptr},
      {"", nullptr},
  };
  for (const auto& one : table) {
    LineTracker tracker;
    tracker.Feed(one.text);
    EXPECT_EQ(tracker.LastNccl().value_or("none"), one.expected != nullptr ? one.expected : "none") << one.text;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
