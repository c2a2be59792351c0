// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_table.h"

#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

Entry Make(std::uint32_t node, std::uint32_t local, const std::string& digest) {
  Entry entry{.node_id = node, .local_rank = local, .node = "server" + std::to_string(node + 1)};
  entry.digest = digest;
  return entry;
}

TEST(RankTableTest, CompactsRanks) {
  EXPECT_EQ(CompactList({}), "");
  EXPECT_EQ(CompactList({3}), "3");
  EXPECT_EQ(CompactList({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(RankTableTest, HasALinePerNode) {
  std::vector<Entry> entries = {Make(0, 0, "a"), Make(1, 0, "b"), Make(0, 1, "a"), Make(1, 1, "c")};
  entries[0].planned = true;
  entries[0].settings = {{"NCCL_IB_GID_INDEX", "3"}, {"NCCL_IB_HCA", "=mlx5_2:1"}};
  EXPECT_EQ(RenderRankTable(entries),
            "node     ranks  settings\n"
            "server1  0,2    plan: NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1\n"
            "server2  1,3    no plan: nothing set\n"
            "  ranks 3 have other settings than their node's first\n");
}

// Names and values come from other nodes: none of them may reach the terminal as it is.
TEST(RankTableTest, IsPrintableWhateverTheEntriesHold) {
  const struct {
    const char* node;
    const char* name;
    const char* value;
    const char* line;
  } rows[] = {
      {"a\x1b[31m", "NCCL_X", "1", "a\\x1b[31m  0      no plan: NCCL_X=1\n"},
      {"a\nb", "NCCL_X", "1", "a\\x0ab  0      no plan: NCCL_X=1\n"},
      {"\xff", "NCCL_X", "1", "\\xff  0      no plan: NCCL_X=1\n"},
      {"node", "NCCL_\x7f", "1", "node  0      no plan: NCCL_\\x7f=1\n"},
      {"node", "NCCL_\n", "1", "node  0      no plan: NCCL_\\x0a=1\n"},
      {"node", "NCCL_X", "\t\r", "node  0      no plan: NCCL_X=\\x09\\x0d\n"},
      {"", "", "", "      0      no plan: =\n"},
  };
  for (const auto& row : rows) {
    Entry entry = Make(0, 0, "a");
    entry.node = row.node;
    entry.settings = {{row.name, row.value}};
    const std::string table = RenderRankTable({entry});
    EXPECT_EQ(table.substr(table.find('\n') + 1), row.line);
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
