// SPDX-License-Identifier: Apache-2.0
//
// The widths and words are those of nccl-tests 2.19.6; the texts here are the reference.
#include "bench/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(TableTest, Header) {
  EXPECT_EQ(HeaderText({.headers_code = 22809,
                        .library_code = 22809,
                        .own_line = "nccl-bench 0.1.0 backend nccl",
                        .program = "all_reduce_perf",
                        .sweep = {.min_bytes = 8, .max_bytes = 67108864, .factor = 2},
                        .warmup = 1,
                        .iterations = 20,
                        .checks = 1}),
            "# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809\n"
            "# nccl-bench 0.1.0 backend nccl\n"
            "# Collective test starting: all_reduce_perf\n"
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 67108864 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
            "validation: 1 graph: 0 unalign: 0\n"
            "#\n"
            "# Using devices\n");
  EXPECT_THAT(HeaderText({}), HasSubstr(" step: 1048576(bytes) "));
}

TEST(TableTest, DeviceLine) {
  EXPECT_EQ(DeviceLine({.rank = 3,
                        .process_id = 4711,
                        .host = "server2",
                        .index = 1,
                        .domain = 0,
                        .bus = 0x9b,
                        .slot = 0,
                        .name = "NVIDIA H200"}),
            "#  Rank  3 Group  0 Pid   4711 on    server2 device  1 [0000:9b:00] NVIDIA H200\n");
  EXPECT_EQ(DeviceLine({.rank = 128, .process_id = 1234567, .host = "a-longer-name", .domain = 0x10000, .name = "x"}),
            "#  Rank 128 Group  0 Pid 1234567 on a-longer-name device  0 [10000:00:00] x\n");
}

TEST(TableTest, MemoryCut) {
  EXPECT_EQ(MemoryCutText(std::nullopt), "");
  EXPECT_EQ(MemoryCutText(1024), "#\n# Reducing maxBytes to 1024 due to memory limitation\n");
}

TEST(TableTest, Columns) {
  EXPECT_EQ(
      ColumnText(),
      "#\n"
      "#                                                              out-of-place                       in-place "
      "         \n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
      "busbw  #wrong \n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
      "(GB/s)         \n");
  const auto lines = Lines(ColumnText());
  EXPECT_EQ(lines[1].size(), 116U);
  EXPECT_EQ(lines[2].size(), 119U);
  EXPECT_EQ(lines[3].size(), 119U);
}

TEST(TableTest, Rows) {
  const RowFacts row{.bytes = 33554432, .count = 8388608, .type = "float", .op = "sum"};
  EXPECT_EQ(RowText(row), "    33554432       8388608     float     sum      -1");
  EXPECT_EQ(RowText(row).size(), 52U);
  const Block block{.microseconds = 123456.7, .algorithm_bandwidth = 0.2718, .bus_bandwidth = 0.3624, .wrong = 0};
  EXPECT_EQ(BlockText(block), "   123457    0.27    0.36       0");
  EXPECT_EQ(BlockText(block).size(), 33U);
  EXPECT_EQ(BlockText({.microseconds = 5.4, .wrong = 1234567}), "     5.40    0.00    0.00  1.23457e+06");
  EXPECT_EQ(BlockText({.microseconds = 5.4}), "     5.40    0.00    0.00    N/A");
  EXPECT_EQ(BlockText({.microseconds = 5.4}).size(), 32U);
  const std::string whole = RowText(row) + BlockText(block) + BlockText(block);
  EXPECT_EQ(whole.size(), 118U);
  std::istringstream words(whole);
  int tokens = 0;
  for (std::string word; words >> word;) ++tokens;
  EXPECT_EQ(tokens, 13);
}

TEST(TableTest, Footer) {
  EXPECT_EQ(FooterText({.wrong = 0, .average_bandwidth = 0.0724519, .program = "all_reduce_perf"}),
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 0.0724519 \n"
            "#\n"
            "# Collective test concluded: all_reduce_perf\n"
            "#\n"
            "\n");
  EXPECT_THAT(FooterText({.wrong = 3}), HasSubstr("values : 3 FAILED\n"));
  EXPECT_THAT(FooterText({.average_bandwidth = 2, .enough = true}), HasSubstr("bandwidth    : 2 OK\n"));
  EXPECT_THAT(FooterText({.average_bandwidth = 2, .enough = false}), HasSubstr("bandwidth    : 2 FAILED\n"));
  EXPECT_THAT(FooterText({}), Not(HasSubstr("FAILED")));
}

}  // namespace
}  // namespace nccl_tune::bench
