// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_table.h"

#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

TEST(RankTableTest, CompactsRanks) {
  EXPECT_EQ(CompactList({}), "");
  EXPECT_EQ(CompactList({3}), "3");
  EXPECT_EQ(CompactList({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(RankTableTest, HasALinePerNode) {
  NodeEntry first{.node = "server1", .ranks = "0-1", .planned = true};
  first.rails = {{.ethernet = true, .gbps = 400}, {.ethernet = true, .gbps = 400}};
  first.planned_values = {{"NCCL_IB_GID_INDEX", "3"}};
  first.user_values = {{"NCCL_DEBUG", "INFO"}};
  const NodeEntry second{.node = "server10", .ranks = "2"};
  EXPECT_EQ(RenderNodeTable({first, second}),
            "node      ranks  settings\n"
            "server1   0-1    plan: rails 2xE400 NCCL_IB_GID_INDEX=3; user: NCCL_DEBUG=INFO\n"
            "server10  2      no plan: nothing\n");
}

// Names and values come from other nodes: none of them may reach the terminal as it is.
TEST(RankTableTest, IsPrintableWhateverTheEntriesHold) {
  const struct {
    const char* node;
    const char* name;
    const char* value;
    const char* line;
  } rows[] = {
      {"a\x1b[31m", "NCCL_X", "1", "a\\x1b[31m  0      no plan: nothing; user: NCCL_X=1\n"},
      {"a\nb", "NCCL_X", "1", "a\\x0ab  0      no plan: nothing; user: NCCL_X=1\n"},
      {"\xff", "NCCL_X", "1", "\\xff  0      no plan: nothing; user: NCCL_X=1\n"},
      {"node", "NCCL_\x7f", "1", "node  0      no plan: nothing; user: NCCL_\\x7f=1\n"},
      {"node", "NCCL_\n", "1", "node  0      no plan: nothing; user: NCCL_\\x0a=1\n"},
      {"node", "NCCL_X", "\t\r", "node  0      no plan: nothing; user: NCCL_X=\\x09\\x0d\n"},
      {"", "", "", "      0      no plan: nothing; user: =\n"},
  };
  for (const auto& row : rows) {
    NodeEntry entry{.node = row.node, .ranks = "0"};
    entry.user_values = {{row.name, row.value}};
    const std::string table = RenderNodeTable({entry});
    EXPECT_EQ(table.substr(table.find('\n') + 1), row.line);
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
