// SPDX-License-Identifier: Apache-2.0
#include "launcher/known_errors.h"

#include <gtest/gtest.h>

#include <set>

#include "launcher/known_errors_samples.h"

namespace nccl_tune::launcher {
namespace {

using Lines = std::vector<std::string>;

// The ids that explain the lines, in order.
std::vector<std::string> Ids(const Lines& lines) {
  std::vector<std::string> ids;
  for (const auto& one : ExplainLines(lines)) ids.emplace_back(one.error->id);
  return ids;
}

TEST(KnownErrorsTest, EveryRowIsWholeAndSaysWhereItIsFrom) {
  EXPECT_GE(KnownErrors().size(), 45u);
  std::set<std::string_view> ids;
  for (const auto& row : KnownErrors()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " stands twice";
    EXPECT_FALSE(row.patterns[0].empty()) << row.id;
    for (const auto pattern : row.patterns) {
      EXPECT_TRUE(pattern.empty() || pattern.size() >= 8) << row.id << ": matches too much: " << pattern;
    }
    for (const auto text : {row.id, row.symptom, row.cause, row.action}) {
      EXPECT_FALSE(text.empty()) << row.id;
      for (const char c : text) EXPECT_TRUE(c >= 0x20 && c <= 0x7e) << row.id << ": " << text;
    }
    EXPECT_LE(row.symptom.size(), 90u) << row.id << ": a symptom is a few words";
    EXPECT_TRUE(row.source.starts_with("https://")) << row.id << ": " << row.source;
  }
}

TEST(KnownErrorsTest, EachSampleIsExplainedByItsRow) {
  for (const auto& [id, line] : Samples()) EXPECT_EQ(Ids({line}), std::vector{id}) << line;
}

TEST(KnownErrorsTest, EachRowHasASample) {
  std::set<std::string> sampled = {"gid-index-pinned"};  // needs two lines, see below
  for (const auto& sample : Samples()) sampled.insert(sample.id);
  for (const auto& row : KnownErrors()) EXPECT_TRUE(sampled.contains(std::string(row.id))) << row.id;
}

// A wording that an earlier row takes would never be used.
TEST(KnownErrorsTest, EachWordingReachesItsRow) {
  for (const auto& row : KnownErrors()) {
    for (const auto pattern : row.patterns) {
      if (pattern.empty() || !row.also.empty()) continue;
      std::string line;
      for (const char c : pattern) line += c == '*' ? std::string(" something ") : std::string(1, c);
      EXPECT_EQ(Ids({line}), std::vector{std::string(row.id)}) << line;
    }
  }
}

TEST(KnownErrorsTest, HarmlessLinesAreExplainedByNone) {
  for (const auto& line : HarmlessLines()) EXPECT_EQ(Ids({line}), std::vector<std::string>{}) << line;
  EXPECT_EQ(Ids(HarmlessLines()), std::vector<std::string>{});
}

TEST(KnownErrorsTest, TwoLinesTogetherTellMore) {
  const std::string failed = "NCCL WARN Call to ibv_modify_qp failed with error Invalid argument errno 22";
  const std::string pinned = "NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.";
  EXPECT_EQ(Ids({pinned, failed}), std::vector<std::string>{"gid-index-pinned"});
  EXPECT_EQ(Ids({failed, pinned}), std::vector<std::string>{"gid-index-pinned"});
  EXPECT_EQ(Ids({failed}), std::vector<std::string>{"ib-modify-invalid"});
}

TEST(KnownErrorsTest, WhatOnlyFollowsIsSaidWhenNothingElseIsKnown) {
  const std::string follows = "ncclSystemError: System call (e.g. socket, malloc) or external library call failed";
  const std::string cause = "NCCL WARN Bootstrap : no socket interface found";
  EXPECT_EQ(Ids({follows}), std::vector<std::string>{"nccl-system-error"});
  EXPECT_EQ(Ids({follows, cause, follows}), std::vector<std::string>{"no-socket-interface"});
}

TEST(KnownErrorsTest, AtMostThreeEachOnceThoseThatSayMostFirst) {
  const Lines lines = {"MPI_ABORT was invoked on rank 2", "CUDA error: invalid device ordinal",
                       "NCCL WARN Call to ibv_create_cq failed", "NCCL WARN Call to ibv_create_cq failed",
                       "NCCL WARN Bootstrap : no socket interface found"};
  EXPECT_EQ(Ids(lines), (std::vector<std::string>{"memlock-cq", "no-socket-interface", "invalid-device"}));
  EXPECT_EQ(ExplainLines(lines)[0].line, 2u);
}

TEST(KnownErrorsTest, HostileTextIsReadInPart) {
  const std::string message = "CUDA error: no kernel image is available for execution on the device";
  EXPECT_EQ(Ids({std::string(1 << 20, 'x') + message}).size(), 1u);
  EXPECT_EQ(Ids({message + std::string(1 << 20, 'x')}).size(), 0u) << "only the end of a long line is read";
  EXPECT_EQ(Ids({std::string(500, '\0') + message + std::string(1, '\xff')}).size(), 1u);
  EXPECT_EQ(
      Ids({"\x1b[1;31mCUDA error\x1b[0m: no kernel\x1b[0m image is available for execution on the device"}).size(), 1u);
  Lines many(5000, "Got completion from peer Got completion from peer status=");
  many.front() = message;
  EXPECT_EQ(Ids(many).size(), 0u) << "only the last lines are read";
  many.back() = message;
  EXPECT_EQ(ExplainLines(many)[0].line, 4999u);
  EXPECT_EQ(Ids({}).size(), 0u);
}

TEST(MatchesPatternTest, StarsAreGaps) {
  struct Case {
    std::string_view line, pattern;
    bool matches;
  };
  for (const auto& one : std::vector<Case>{
           {"abc", "b", true},
           {"abc", "a*c", true},
           {"ac", "a*c", true},
           {"aXbXc", "a*b*c", true},
           {"abab", "ab*ab", true},
           {"a", "", true},
           {"", "", true},
           {"a*c", "a*c", true},
           {"abc", "c*a", false},
           {"ab", "ab*ab", false},
           {"aba", "ab*ba", false},
           {"", "a", false},
           {"ABC", "abc", false},
           {"ab", "a*b*c", false},
           {"a", "aa", false},
       }) {
    EXPECT_EQ(MatchesPattern(one.line, one.pattern), one.matches) << one.line << " " << one.pattern;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
