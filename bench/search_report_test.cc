// SPDX-License-Identifier: Apache-2.0
#include "bench/search_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SearchResult Pairs() {
  SearchResult result{.mode = Mode::kPairs,
                      .own_version = "nccl-bench 0.1.0",
                      .backend = "mpi (host memory, Open MPI v4.1.4)",
                      .collective = "sendrecv",
                      .type = "float",
                      .op = "sum",
                      .sizes = {67108864},
                      .ranks = 3,
                      .nodes = {"server1", "server2", "server3"},
                      .measured = {{.round = 1, .nodes = {0, 1}, .busbw = 3},
                                   {.round = 2, .nodes = {0, 2}, .busbw = 0.7},
                                   {.round = 3, .nodes = {2, 1}, .busbw = 0.75},
                                   {.round = 4, .nodes = {0, 2}, .busbw = 0.8}},
                      .is_complete = true,
                      .rounds = 4};
  PairMatrix matrix(3);
  matrix.Set(0, 1, 3);
  matrix.Set(0, 2, 0.8);
  matrix.Set(1, 2, 0.75);
  AddFindings(AnalysePairs(matrix, result.tolerance), result);
  return result;
}

SearchResult Nothing() {
  SearchResult result = Pairs();
  result.slow_nodes.clear();
  result.has_two_speeds = false;
  return result;
}

// What readers of nccl-tests' output look for.
void ExpectHarmless(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, StartsWith("#"));
    for (const char* word :
         {"bandwidth", "FAILED", "Test failure", "out-of-place", "Out of bounds values", "Rank ", " on "}) {
      EXPECT_THAT(line, Not(HasSubstr(word)));
    }
  }
}

TEST(SearchReportTest, ShowsMatrixAndSlowNode) {
  const std::string text = SearchText(Pairs());
  EXPECT_EQ(text,
            "#\n"
            "# pairs over 3 nodes by sendrecv, in 4 rounds\n"
            "#\n"
            "# busbw between two nodes in GB/s; a star: under 80 % of 3.000\n"
            "#   # GB/s       0     1     2   median\n"
            "#   0 server1    .  3.00  0.80*    1.90\n"
            "#   1 server2 3.00     .  0.75*    1.88\n"
            "#   2 server3 0.80* 0.75*    .     0.78\n"
            "#\n"
            "# slow node: server3: 0.775 GB/s, 26 % of 3.000; slow with 2 of 2 others\n"
            "#   next: its cable and switch port, PFC, PCIe width: nccl-tune explain there, nccl-bench --per-rail with "
            "a good one\n"
            "#\n"
            "# Search concluded: pairs: 1 slow node, 0 slow links\n");
}

TEST(SearchReportTest, SaysThatNothingIsSlow) {
  const std::string text = SearchText(Nothing());
  EXPECT_THAT(text, HasSubstr("# nothing slow: a good pair has 3.000 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("# Search concluded: pairs: 0 slow nodes, 0 slow links\n"));
  EXPECT_FALSE(IsSuspicious(Nothing()));
  SearchResult two = Nothing();
  two.nodes.pop_back();
  two.measured = {{.round = 1, .nodes = {0, 1}, .busbw = 3}};
  EXPECT_THAT(SearchText(two), HasSubstr("# two nodes: nothing to compare with, three are needed"));
  EXPECT_THAT(SearchText(two), Not(HasSubstr("nothing slow")));
}

TEST(SearchReportTest, NamesLinksGroupsAndWrongData) {
  SearchResult result = Nothing();
  result.mode = Mode::kBisect;
  result.slow_links = {{.pair = {.first = 0, .second = 2}, .busbw = 12.5}};
  result.reference = 50;
  result.slow_groups = {{.nodes = {0, 1, 2}, .busbw = 1, .reference = 4}};
  result.wrong = {{1, 2}};
  const std::string text = SearchText(result);
  EXPECT_TRUE(IsSuspicious(result));
  EXPECT_THAT(text, HasSubstr("# slow link: server1 - server3: 12.5 GB/s, 25 % of 50.0\n#   next: cables"));
  EXPECT_THAT(text, HasSubstr("# slow together: server1, server2, server3: 1.000 GB/s, 25 % of 4.000\n#   next: "));
  EXPECT_THAT(text, HasSubstr("# wrong data: server2, server3\n#   next: "));
  EXPECT_THAT(text, Not(HasSubstr("nothing slow")));
  EXPECT_THAT(text, Not(HasSubstr("median"))) << "bisect has no matrix";
}

TEST(SearchReportTest, ALargeGroupIsCut) {
  SearchResult result;
  for (int i = 0; i < 40; ++i) {
    result.nodes.push_back("n" + std::to_string(i));
    if (result.nodes.size() <= 20) result.wrong.resize(1);
    if (result.nodes.size() <= 20) result.wrong[0].push_back(static_cast<std::uint64_t>(i));
  }
  EXPECT_THAT(SearchText(result), HasSubstr("wrong data: n0, n1, n2, n3, n4, n5, n6, n7 and 12 more\n"));
}

TEST(SearchReportTest, HoldsNoWordThatOthersLookFor) {
  SearchResult result = Pairs();
  result.slow_links = {{.pair = {.first = 0, .second = 1}, .busbw = 1}};
  result.slow_groups = {{.nodes = {0, 1}, .busbw = 1, .reference = 4}};
  result.wrong = {{0, 1}};
  ExpectHarmless(SearchText(result));
  ExpectHarmless(SearchText(Nothing()));
}

TEST(SearchReportTest, JsonHasEverything) {
  const auto json = base::ParseJson(SearchJson(Pairs()));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(base::GetInteger(*json, "v"), 1);
  EXPECT_EQ(base::GetString(*json, "mode"), "pairs");
  EXPECT_EQ(base::GetBool(*json, "complete"), true);
  EXPECT_EQ(base::GetMember(*json, "nodes").size(), 3U);
  EXPECT_EQ(base::GetMember(*json, "measured").size(), 4U);
  EXPECT_EQ(base::GetMember(*json, "measured")[2].dump(), R"({"round":3,"nodes":["server3","server2"],"busbw":0.75})");
  EXPECT_EQ(base::GetInteger(*json, "rounds"), 4);
  EXPECT_EQ(base::GetMember(*json, "slow_nodes").dump(),
            R"([{"node":"server3","busbw":0.775,"slow_pairs":2,"pairs":2}])");
  EXPECT_EQ(base::GetMember(*json, "slow_links").dump(), "[]");
  EXPECT_EQ(base::GetMember(*json, "wrong").dump(), "[]");
  EXPECT_EQ(base::GetMember(*json, "doubts").dump(), "[]");
  EXPECT_TRUE(base::GetMember(*json, "error").is_null());
}

TEST(SearchReportTest, JsonHasWhatMakesItDoubtful) {
  SearchResult result = Pairs();
  result.doubts = {"node1: load 8 of 2 cores", "\xff"};
  const auto json = base::ParseJson(SearchJson(result));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(base::GetMember(*json, "doubts").size(), 2U);
  EXPECT_EQ(base::GetMember(*json, "doubts")[0].dump(), "\"node1: load 8 of 2 cores\"");
}

TEST(SearchReportTest, JsonIsValidBeforeTheEnd) {
  const SearchResult none;
  SearchResult broken = Pairs();
  broken.is_complete = false;
  broken.error = "server2: \xff died";
  for (const SearchResult& one : {none, broken}) {
    const auto json = base::ParseJson(SearchJson(one));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(base::GetBool(*json, "complete"), false);
    EXPECT_TRUE(base::GetMember(*json, "slow_nodes").is_null()) << "not known yet";
    EXPECT_EQ(base::GetMember(*json, "measured").size(), one.measured.size());
  }
}

TEST(SearchReportTest, CsvHasTheBestOfEachPair) {
  EXPECT_EQ(SearchCsv(Pairs()), "first,second,busbw\nserver1,server2,3\nserver1,server3,0.8\nserver2,server3,0.75\n");
  EXPECT_EQ(SearchCsv({}), "first,second,busbw\n");
  SearchResult odd{.nodes = {"a,b", "c\"d"}};
  odd.measured = {{.round = 1, .nodes = {0, 1}, .busbw = 1}};
  EXPECT_EQ(SearchCsv(odd), "first,second,busbw\n\"a,b\",\"c\"\"d\",1\n");
}

}  // namespace
}  // namespace nccl_tune::bench
