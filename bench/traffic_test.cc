// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::uint64_t> Row(const Traffic& traffic, std::uint64_t from, std::uint64_t ranks, std::uint64_t total) {
  std::vector<std::uint64_t> row;
  for (std::uint64_t to = 0; to < ranks; ++to) row.push_back(traffic.Bytes(from, to, ranks, total));
  return row;
}

TEST(TrafficTest, GeneratesByDistance) {
  struct Case {
    double spread;
    std::uint64_t from;
    std::uint64_t ranks;
    std::uint64_t total;
    std::vector<std::uint64_t> row;
  };
  for (const Case& one : std::vector<Case>{{1, 0, 4, 384, {0, 64, 128, 192}},
                                           {1, 3, 4, 384, {64, 128, 192, 0}},
                                           {0, 2, 4, 384, {96, 96, 96, 96}},
                                           {0.5, 0, 4, 384, {48, 80, 112, 144}},
                                           {1, 0, 4, 256, {0, 32, 80, 128}},  // 42.7 and 85.3 before the cut
                                           {1, 1, 3, 0, {0, 0, 0}},
                                           {1, 0, 2, 31, {0, 16}},
                                           {0.25, 0, 1, 100, {96}}}) {
    EXPECT_THAT(Row(Traffic(one.spread), one.from, one.ranks, one.total), ElementsAreArray(one.row)) << one.spread;
  }
}

TEST(TrafficTest, SumsWhatIsGenerated) {
  const auto most = Traffic(1).MostElements(4, 4, 256);
  EXPECT_EQ(most.sent, 60U);
  EXPECT_EQ(most.received, 60U);
  EXPECT_EQ(Traffic(1).MostElements(8, 1, 100).sent, 12U);
  EXPECT_EQ(Traffic(0).MostElements(1, 16384, 1ULL << 40U).sent, 1ULL << 40U);
}

TEST(TrafficTest, ReadsMatrices) {
  struct Case {
    const char* text;
    double scale;
    std::vector<std::uint64_t> cells;  // row by row
  };
  for (const Case& one : std::vector<Case>{{"17", 1, {16}},
                                           {"0\n", 1, {0}},
                                           {"100 200\n300 400\n", 1, {96, 192, 288, 400}},
                                           {"\n  16\t32 \r\n\n\v48\f64\n\n", 1, {16, 32, 48, 64}},
                                           {"1e3 +16\n.5e2 32.\n", 1, {992, 16, 48, 32}},
                                           {"10 20\n30 40", 10, {96, 192, 288, 400}},
                                           {"-0 1E2\n0 16", 0.5, {0, 48, 0, 0}},
                                           {"9 9\n9 9", 0, {0, 0, 0, 0}},
                                           {"18446744073709549568", 1, {18446744073709549568U}}}) {
    const auto traffic = Traffic::FromMatrix(one.text, "matrix", one.scale);
    ASSERT_TRUE(traffic.ok()) << one.text << traffic.error().ToString();
    EXPECT_TRUE(traffic->is_matrix());
    EXPECT_EQ(traffic->scale(), one.scale);
    ASSERT_EQ(traffic->side() * traffic->side(), one.cells.size());
    std::vector<std::uint64_t> cells;
    for (std::uint64_t from = 0; from < traffic->side(); ++from) {
      for (const std::uint64_t cell : Row(*traffic, from, traffic->side(), 0)) cells.push_back(cell);
    }
    EXPECT_EQ(cells, one.cells) << one.text;
  }
}

TEST(TrafficTest, UsesTheFirstRowsAndColumns) {
  const auto traffic = Traffic::FromMatrix("16 32 999\n48 64 999\n999 999 999", "matrix", 1);
  ASSERT_TRUE(traffic.ok());
  EXPECT_EQ(traffic->side(), 3U);
  EXPECT_THAT(Row(*traffic, 1, 2, 0), ElementsAreArray({48, 64}));
  const auto most = traffic->MostElements(4, 2, 0);
  EXPECT_EQ(most.sent, 28U);
  EXPECT_EQ(most.received, 24U);
}

TEST(TrafficTest, TheDigestTellsWhatDiffers) {
  const auto digest = [](const char* text, double scale = 1) {
    return Traffic::FromMatrix(text, "m", scale)->digest();
  };
  const std::uint64_t known = digest("16 32\n48 64\n");
  EXPECT_EQ(digest(" 16 32 \n\n48 64"), known);
  EXPECT_EQ(digest("8 16\n24 32\n", 2), known);
  for (const char* other : {"16 32\n48 80\n", "16 48\n32 64\n", "32 16\n48 64\n", "16\n"}) {
    EXPECT_NE(digest(other), known) << other;
  }
  EXPECT_EQ(Traffic(0.5).digest(), Traffic(0.5).digest());
  EXPECT_NE(Traffic(0.5).digest(), Traffic(1).digest());
}

TEST(TrafficTest, RefusesWhatIsNoMatrix) {
  struct Case {
    std::string text;
    double scale;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{
           {"", 1, "m.txt: no traffic matrix: the file is empty"},
           {" \n\t\r\n", 1, "m.txt: no traffic matrix: the file is empty"},
           {"1 2\n3 x\n", 1, "m.txt, row 2, column 2: not a number: got \"x\", expected a number of bytes >= 0"},
           {"\n\n1 2\n\n3 1,5\n", 1, "m.txt, row 2, column 2: not a number: got \"1,5\""},
           {"-1", 1, "m.txt, row 1, column 1: negative number: got \"-1\", expected a number of bytes >= 0"},
           {"-1e-300", 1, "row 1, column 1: negative number"},
           {"nan", 1, "row 1, column 1: not a number: got \"nan\""},
           {"NaN(1)", 1, "row 1, column 1: not a number"},
           {"inf", 1, "row 1, column 1: not a number: got \"inf\""},
           {"-infinity", 1, "row 1, column 1: not a number: got \"-infinity\""},
           {"0x10", 1, "row 1, column 1: not a number: got \"0x10\""},
           {"1K", 1, "row 1, column 1: not a number: got \"1K\""},
           {"1_000", 1, "row 1, column 1: not a number"},
           {"1;", 1, "row 1, column 1: not a number"},
           {"+", 1, "row 1, column 1: not a number: got \"+\""},
           {"-", 1, "row 1, column 1: not a number: got \"-\""},
           {"++1", 1, "row 1, column 1: not a number: got \"++1\""},
           {"+-1", 1, "row 1, column 1: not a number: got \"+-1\""},
           {".", 1, "row 1, column 1: not a number: got \".\""},
           {"e5", 1, "row 1, column 1: not a number: got \"e5\""},
           {"1e", 1, "row 1, column 1: not a number: got \"1e\""},
           {"1 2\n3 4 # end\n", 1, "row 2, column 3: not a number: got \"#\""},
           {std::string("1\0002", 3), 1, "row 1, column 1: not a number: got \"1\\x002\""},
           {"1e400", 1, "row 1, column 1: number out of range: got \"1e400\""},
           {"1e-400", 1, "row 1, column 1: number out of range: got \"1e-400\""},
           {"18446744073709551616", 1,
            "column 1: too many bytes: got \"18446744073709551616\", expected less than 2^64"},
           {"1e19", 2, "too many bytes: got \"1e19\", expected less than 2^64 bytes after scaling by 2.0"},
           {"1e19 1e19\n0 0", 1, "row 1, column 2: too many bytes in this row: got \"1e19\", expected a sum less than"},
           {"1e19 0\n1e19 0", 1, "m.txt: column 1 has 2^64 bytes or more"},
           {"1 2\n3\n", 1, "row 2: another number of columns than in the first row: got \"1\", expected 2"},
           {"1\n2 3\n", 1, "row 2: another number of columns than in the first row: got \"2\", expected 1"},
           {"1 2\n", 1, "m.txt: the traffic matrix is not square: got \"1 rows of 2 columns\", expected as many"},
           {"1\n2\n3", 1, "m.txt: the traffic matrix is not square: got \"3 rows of 1 columns\""},
           {"1", -1, "m.txt: cannot be scaled: got \"-1.0"},
           {"1", std::numeric_limits<double>::infinity(),
            "m.txt: cannot be scaled: got \"inf\", expected a finite scale >= 0"},
           {"0", std::numeric_limits<double>::quiet_NaN(), "m.txt: cannot be scaled"}}) {
    const auto traffic = Traffic::FromMatrix(one.text, "m.txt", one.scale);
    ASSERT_FALSE(traffic.ok()) << one.text;
    EXPECT_THAT(traffic.error().ToString(), HasSubstr(one.message)) << one.text;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
