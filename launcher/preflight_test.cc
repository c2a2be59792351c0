// SPDX-License-Identifier: Apache-2.0
#include "launcher/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/test_entries.h"

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<NodeEntry> WithOneOfRoceV1() {
  auto out = MakeTestEntries(4);
  for (auto& rail : out[1].rails) rail.roce = 1;
  return out;
}

TEST(PreflightTest, WordsOfTheOption) {
  EXPECT_EQ(ParsePreflight("off").value_or(Preflight::kFail), Preflight::kOff);
  EXPECT_EQ(ParsePreflight("warn").value_or(Preflight::kOff), Preflight::kWarn);
  EXPECT_EQ(ParsePreflight("fail").value_or(Preflight::kOff), Preflight::kFail);
  for (const char* text : {"", "on", "Off", "warn ", "fail,warn", "1"}) {
    const auto got = ParsePreflight(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().ToString(),
              "no kind of preflight: got \"" + std::string(text) + "\", expected off, warn or fail");
  }
}

TEST(PreflightTest, OnlyFailEndsTheStep) {
  const auto entries = WithOneOfRoceV1();
  const auto off = Judge(entries, {}, Preflight::kOff);
  EXPECT_EQ(off.agreement, Agreement{});
  EXPECT_THAT(off.lines, IsEmpty());
  const auto warn = Judge(entries, {}, Preflight::kWarn);
  EXPECT_FALSE(warn.agreement.stop);
  ASSERT_EQ(warn.lines.size(), 4U);
  EXPECT_EQ(warn.lines[2], "  RoCE version  v2          v1         server2");
  const auto fail = Judge(entries, {}, Preflight::kFail);
  EXPECT_EQ(fail.agreement, Agreement{.stop = true});
  EXPECT_THAT(fail.lines.back(), HasSubstr("--preflight=warn starts all the same"));
}

TEST(PreflightTest, WhatIsSettledOrSlightDoesNotEndIt) {
  EXPECT_THAT(Judge(MakeTestEntries(4), {}, Preflight::kFail).lines, IsEmpty());
  auto slight = MakeTestEntries(4);
  slight[1].driver = "550.1";
  const auto driver = Judge(slight, {}, Preflight::kFail);
  EXPECT_FALSE(driver.agreement.stop);
  EXPECT_FALSE(driver.lines.empty());
  auto dead = MakeTestEntries(4);
  dead[1].rails.erase(dead[1].rails.begin());
  const auto rail = Judge(dead, {}, Preflight::kFail);
  EXPECT_FALSE(rail.agreement.stop);
  EXPECT_EQ(rail.agreement.drop_networks.size(), 1U);
  EXPECT_THAT(rail.lines.back(), HasSubstr("left out on all nodes"));
  auto theirs = MakeTestEntries(4);
  theirs[1].user_values["NCCL_DEBUG"] = "INFO";
  EXPECT_THAT(Judge(theirs, {}, Preflight::kFail).lines, IsEmpty());
  EXPECT_FALSE(Judge(theirs, {}, Preflight::kFail, Severity::kNote).lines.empty());
}

TEST(PreflightTest, UnreachableNodesEndItUnlessThereIsAWayBack) {
  auto entries = MakeTestEntries(3);
  const std::vector<FailedProbe> failures = {{"server1", "server2", "172.20.0.2", "no answer within 2 s"}};
  const auto back = Judge(entries, failures, Preflight::kFail);
  EXPECT_TRUE(back.agreement.fall_back);
  EXPECT_FALSE(back.agreement.stop);
  for (auto& entry : entries) entry.changeable.interface = false;
  EXPECT_TRUE(Judge(entries, failures, Preflight::kFail).agreement.stop);
}

TEST(SingletonsTest, TasksThatDoNotKnowOfEachOther) {
  struct Row {
    StepSizes sizes;
    const char* text;  // null: nothing is wrong
  };
  const std::vector<Row> rows = {
      {{.pmix_ranks = 1, .step_tasks = 1}, nullptr},
      {{.pmix_ranks = 6, .step_tasks = 6}, nullptr},
      {{.pmix_ranks = 1, .step_tasks = {}}, nullptr},
      {{.pmix_ranks = 0, .step_tasks = 6}, nullptr},
      {{.pmix_ranks = 1, .step_tasks = 6},
       "you started 6 separate single-rank jobs: this step has 6 tasks, and for PMIx each is alone. Start all tasks by "
       "one srun --mpi=pmix. No mpirun between srun and nccl-launch, and no PMIX_* variables that a task prolog or "
       "image "
       "has set."},
      {{.pmix_ranks = 2, .step_tasks = 6},
       "PMIx counts 2 ranks, but this step has 6 tasks: they are not one job. Start all tasks by one srun --mpi=pmix."},
      {{.pmix_ranks = 8, .step_tasks = 1},
       "PMIx counts 8 ranks, but this step has 1 tasks: they are not one job. Start all tasks by one srun --mpi=pmix."},
  };
  for (const auto& row : rows) {
    const auto got = FindSingletons(row.sizes);
    ASSERT_EQ(got.has_value(), row.text != nullptr) << row.sizes.pmix_ranks;
    if (got) {
      EXPECT_EQ(got->ToString(), row.text);
    }
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
