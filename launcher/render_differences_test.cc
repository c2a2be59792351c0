// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/differences.h"
#include "launcher/test_entries.h"

namespace nccl_tune::launcher {
namespace {

TEST(RenderTest, OneSmallTable) {
  auto entries = MakeTestEntries(8);
  for (const std::size_t i : {1U, 2U, 3U, 6U}) entries[i].rails[0].mtu = 1500;
  entries[5].user_values["NCCL_IB_TIMEOUT"] = "22";
  entries[7].gpus = 4;
  const auto lines = RenderDifferences(Compare(entries), Severity::kWarn, entries.size());
  const std::vector<std::string> expected = {
      "the 8 nodes differ:",
      "  item             most nodes  odd nodes  which",
      "  MTU of rails     9000        1500,9000  server[2-4,7]",
      "  NCCL_IB_TIMEOUT  20          22         server6",
      "MTU of rails: Set one MTU on all nodes: larger frames than the other side takes are lost.",
      "NCCL_IB_TIMEOUT: It was set by the user, the image or a file of NCCL: set it alike on all nodes.",
  };
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(RenderDifferences(Compare(entries), Severity::kNote, 8).size(), 8U);
  EXPECT_TRUE(RenderDifferences(Compare(entries), Severity::kFail, 8).empty());
  EXPECT_TRUE(RenderDifferences({}, Severity::kNote, 8).empty());
}

TEST(RenderTest, IsBoundedWhateverTheNodesSay) {
  auto entries = MakeTestEntries(500);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& entry = entries[i];
    const std::string own = std::to_string(i * i % 400) + std::string(300, 'x') + "\n\x1b[2J";
    entry.version = entry.nccl.emplace() = entry.driver.emplace() = entry.gpu_model.emplace() = own;
    entry.node += i % 2 == 0 ? "\n" : "";
    for (int k = 0; k < 30; ++k) entry.user_values["NCCL_" + std::string(60, 'X') + std::to_string(k)] = own;
    entry.rails.resize(i % 8);
  }
  const auto lines = RenderDifferences(Compare(entries), Severity::kNote, entries.size());
  EXPECT_LE(lines.size(), 20U);
  for (const auto& line : lines) {
    EXPECT_LE(line.size(), 120U) << line;
    EXPECT_EQ(base::Printable(line), line);
  }
}

TEST(CutHostListTest, StaysWithinItsWidth) {
  struct Row {
    std::string list;
    std::size_t count;
    std::size_t width;
    std::string cut;
  };
  const std::vector<Row> rows = {
      {"server[2-4,7]", 4, 20, "server[2-4,7]"},
      {"server[1,3,5,7,9,11,13]", 7, 26, "server[1,3,5,7,9,11,13]"},
      {"server[1,3,5,7,9,11,13,15,17]", 9, 26, "server[1,3,5,... (9 nodes)"},
      {"a,b,c", 3, 4, "3 nodes"},
      {std::string(60, 'h'), 1, 30, std::string(18, 'h') + "... (1 node)"},
      {"a\nb", 1, 30, "a\\x0ab"},
      {"", 0, 30, ""},
  };
  for (const auto& row : rows) EXPECT_EQ(CutHostList(row.list, row.count, row.width), row.cut) << row.list;
}

}  // namespace
}  // namespace nccl_tune::launcher
