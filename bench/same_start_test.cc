// SPDX-License-Identifier: Apache-2.0
#include "bench/same_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options Of(const std::vector<std::string>& arguments, const base::Environment& environment = {}) {
  const auto options = ParseOptions("nccl-bench", arguments, environment);
  EXPECT_TRUE(options.ok());
  return options.value_or(Options{});
}

std::string Text(const Options& options, std::uint64_t ranks = 2, const std::string& refusal = "",
                 const std::string& host = "") {
  return StartToText({.ranks = ranks, .digest = DigestOf(options), .host = host, .refusal = refusal});
}

TEST(SameStartTest, TheSameGoesOn) {
  const Options options = Of({"all_reduce", "-b", "8", "-e", "64", "-f", "2"});
  const StartDecision decision = JudgeStart({Text(options), Text(options)}, options);
  EXPECT_THAT(decision.refusal, IsEmpty());
  EXPECT_FALSE(decision.skips);
}

TEST(SameStartTest, WhatDecidesTheCallsIsNoticed) {
  const Options options = Of({"reduce", "-b", "8", "-e", "64", "-f", "2"});
  using Words = std::vector<std::string>;
  for (const Words& other :
       {Words{"-e", "128"}, Words{"-b", "16"},  Words{"-f", "4"}, Words{"-n", "10"},     Words{"-m", "2"},
        Words{"-w", "0"},   Words{"-N", "2"},   Words{"-c", "0"}, Words{"-d", "double"}, Words{"-d", "all"},
        Words{"-o", "max"}, Words{"-o", "all"}, Words{"-r", "1"}, Words{"-r", "-1"},     Words{"-z", "1"},
        Words{"-G", "2"},   Words{"-a", "0"},   Words{"-R", "1"}, Words{"-x", "1"},      Words{"-u", "3"},
        Words{"-I", "1"},   Words{"-M", "1"},   Words{"-t", "2"}, Words{"-g", "2"},      Words{"--adaptive"}}) {
    Words arguments = {"reduce", "-b", "8", "-e", "64", "-f", "2"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    EXPECT_THAT(JudgeStart({Text(options), Text(Of(arguments))}, options).refusal, HasSubstr("process 1 was started"))
        << other[0];
  }
  EXPECT_THAT(JudgeStart({Text(options), Text(options), Text(Of({"broadcast"}))}, options).refusal,
              HasSubstr("process 2"));
  const Options spread = Of({"alltoallv"}, {{"NCCL_TESTS_ALLTOALLV_SPREAD", "0.5"}});
  EXPECT_THAT(JudgeStart({Text(Of({"alltoallv"})), Text(spread)}, spread).refusal, HasSubstr("process 1"));
  Options matrix = Of({"alltoallv"});
  matrix.traffic = *Traffic::FromMatrix("16 32\n48 64\n", "m", 1);
  Options other = matrix;
  other.traffic = *Traffic::FromMatrix("16 32\n48 80\n", "m", 1);
  EXPECT_THAT(JudgeStart({Text(matrix), Text(other)}, matrix).refusal, HasSubstr("another matrix"));
  for (const std::string bad : {"", "2", "2\tx", "2\tx\ty", "x\ty\tz\t", "-1\t1\t\t"}) {
    EXPECT_THAT(JudgeStart({Text(options), bad}, options).refusal, HasSubstr("process 1")) << bad;
  }
}

TEST(SameStartTest, OneThatCannotGoOnEndsAll) {
  const Options options = Of({"broadcast", "-r", "1"});
  const std::string why = "-r: there is no such rank";
  EXPECT_EQ(JudgeStart({Text(options), Text(options, 1, why)}, options).refusal, "process 1: " + why);
  EXPECT_EQ(JudgeStart({Text(options), Text(options), Text(options, 1, why, "server2")}, options).refusal,
            "process 2 (server2): " + why);
}

TEST(SameStartTest, WhatAllAreRefusedForNamesNone) {
  const Options options = Of({"broadcast", "-r", "1"});
  EXPECT_EQ(JudgeStart({Text(options, 1, "no", "server1"), Text(options, 1, "no", "server2")}, options).refusal, "no");
  EXPECT_EQ(JudgeStart({Text(options, 1, "no\tas", "server1"), Text(options, 1, "never", "server2")}, options).refusal,
            "process 0 (server1): no\tas");
}

TEST(SameStartTest, AMatrixThatOneCannotReadIsNamedRatherThanTheDifference) {
  const Options without = Of({"alltoallv"});
  Options with = without;
  with.traffic = *Traffic::FromMatrix("16 32\n48 64\n", "m", 1);
  EXPECT_EQ(JudgeStart({Text(with), Text(without, 2, "m: No such file or directory", "server2")}, with).refusal,
            "process 1 (server2): m: No such file or directory");
  EXPECT_THAT(JudgeStart({Text(with), Text(without, 2, "", "server2")}, with).refusal,
              HasSubstr("process 1 (server2) was started with other flags"));
}

TEST(SameStartTest, SearchesDifferByTheirKindAndByNamingACollective) {
  const Options pairs = Of({"pairs"});
  EXPECT_THAT(JudgeStart({Text(pairs), Text(Of({"pairs"}))}, pairs).refusal, IsEmpty());
  for (const std::vector<std::string>& other : {std::vector<std::string>{"bisect"},
                                                {"pairs", "sendrecv"},
                                                {"pairs", "all_reduce"},
                                                {"pairs", "-b", "1M"},
                                                {"sendrecv"},
                                                {"pairs", "-n", "3"}}) {
    EXPECT_THAT(JudgeStart({Text(pairs), Text(Of(other))}, pairs).refusal, HasSubstr("process 1")) << other[0];
  }
}

TEST(SameStartTest, GroupsOfDifferentSizes) {
  const Options each = Of({"broadcast", "-r", "-1"});
  EXPECT_THAT(JudgeStart({Text(each, 2), Text(each, 1)}, each).refusal, HasSubstr("from 1 to 2 ranks"));
  EXPECT_THAT(JudgeStart({Text(each, 2), Text(each, 2)}, each).refusal, IsEmpty());
  const Options cube = Of({"hypercube"});
  EXPECT_TRUE(JudgeStart({Text(cube, 1), Text(cube, 3)}, cube).skips);
  EXPECT_FALSE(JudgeStart({Text(cube, 1), Text(cube, 2)}, cube).skips);
}

TEST(SameStartTest, DecisionsTravel) {
  for (const StartDecision& one :
       {StartDecision{}, StartDecision{.skips = true}, StartDecision{.refusal = "no: a b"}}) {
    const StartDecision back = DecisionFromText(DecisionToText(one));
    EXPECT_EQ(back.skips, one.skips);
    EXPECT_EQ(back.refusal, one.refusal);
  }
  EXPECT_FALSE(DecisionFromText("").skips);
}

}  // namespace
}  // namespace nccl_tune::bench
