// SPDX-License-Identifier: Apache-2.0
#include "spank/report_groups.h"

#include <gtest/gtest.h>

namespace nccl_tune::spank {
namespace {

TEST(GroupReportsTest, OneTableAPlan) {
  EXPECT_EQ(GroupReports({}), "");
  EXPECT_EQ(GroupReports({{.node = "a", .key = "k", .text = "x\ny\n"}}), "nccl-tune: a\nx\ny\n");
  EXPECT_EQ(GroupReports({{.node = "n10", .key = "k", .text = "ten\n"},
                          {.node = "n9", .key = "other", .text = "nine\n"},
                          {.node = "n2", .key = "k", .text = "two\n"}}),
            "nccl-tune: n[2,10] (2 nodes)\ntwo\nnccl-tune:   (addresses in the reasons are those of n2)\nnccl-tune: "
            "n9\nnine\n");
}

TEST(GroupReportsTest, WhateverTheyHoldIsPrintable) {
  EXPECT_EQ(GroupReports({{.node = "a\x1b[2J", .key = "", .text = "\x1b[31mred\n\n\ttab"}}),
            "nccl-tune: a\\x1b[2J\n\\x1b[31mred\n\n\\x09tab\n");
  EXPECT_EQ(GroupReports({{.node = "a", .key = "k", .text = ""}, {.node = "a", .key = "k", .text = "b"}}),
            "nccl-tune: a (2 nodes)\n");
}

}  // namespace
}  // namespace nccl_tune::spank
