// SPDX-License-Identifier: Apache-2.0
#include "cli/check_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::cli {
namespace {

TEST(CheckPolicyTest, Good) {
  const auto got = CheckPolicyText("mode = \"off\"\n", "p.toml");
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.summary, "p.toml: no fault\n\nEverywhere\n  mode           off\n");
  EXPECT_EQ(got.faults, "");
}

TEST(CheckPolicyTest, NotesAreNoFault) {
  const auto got = CheckPolicyText("set.NCCL_IB_HAC = 1\n", "p.toml");
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.summary, "p.toml: no fault\n\nEverywhere\n  set            NCCL_IB_HAC=1\n");
  EXPECT_EQ(got.faults,
            "nccl-tune: note: p.toml:1: set.NCCL_IB_HAC: not a variable that we know, so its value is not checked; Did "
            "you mean NCCL_IB_HCA?\n");
}

TEST(CheckPolicyTest, EveryFault) {
  const struct {
    const char* text;
    const char* faults;
  } kRows[] = {
      {"mode = 1",
       "nccl-tune: p\\x0a:1: mode: wrong type: got \"1\", expected off, auto, explain, dry-run, in quotes\n"
       "nccl-tune: p\\x0a: 1 fault; this policy would be ignored\n"},
      {"mode = 1\ngid_index = 3\n[traffic_class]\ntc = 999",
       "nccl-tune: p\\x0a:1: mode: wrong type: got \"1\", expected off, auto, explain, dry-run, in quotes\n"
       "nccl-tune: p\\x0a:2: gid_index: wrong type: got \"3\", expected pin, auto, in quotes\n"
       "nccl-tune: p\\x0a:4: traffic_class.tc: number out of range: got \"999\", expected 0 to 255. It is DSCP x 4, so "
       "DSCP 26 is 104 or 106\n"
       "nccl-tune: p\\x0a: 3 faults; this policy would be ignored\n"},
  };
  for (const auto& row : kRows) {
    const auto got = CheckPolicyText(row.text, "p\n");
    EXPECT_FALSE(got.ok);
    EXPECT_EQ(got.summary, "");
    EXPECT_EQ(got.faults, row.faults);
  }
}

}  // namespace
}  // namespace nccl_tune::cli
