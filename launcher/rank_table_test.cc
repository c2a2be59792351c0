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

}  // namespace
}  // namespace nccl_tune::launcher
