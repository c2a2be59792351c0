// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/compat_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/collective.h"
#include "bench/flag_table.h"
#include "bench/option_variables.h"

namespace nccl_tune::compat {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How the test is written in its file: TEST(Suite, Name), @test "name" or def name(.
bool IsThere(const TestName& test) {
  const std::string text = Content(std::string(test.file));
  const std::string name(test.name);
  if (test.file.ends_with(".bats")) return text.find("@test \"" + name + "\" {") != std::string::npos;
  if (test.file.ends_with(".py")) return text.find("def " + name + "(") != std::string::npos;
  const std::size_t point = name.find('.');
  if (point == std::string::npos) return false;
  const std::string arguments = "(" + name.substr(0, point) + ", " + name.substr(point + 1) + ")";
  return text.find("\nTEST" + arguments) != std::string::npos || text.find("\nTEST_F" + arguments) != std::string::npos;
}

TEST(CompatPageTest, ThePageIsMadeFromTheTables) {
  EXPECT_EQ(CompatMarkdown(), Content("docs/nccl-tests-compat.md"))
      << "bazel run //tests/compat:update_compat_page rewrites it; review the diff";
}

std::vector<std::string> Pairs(const Tests& tests) {
  std::istringstream words{std::string(tests.pairs)};
  return {std::istream_iterator<std::string>(words), {}};
}

// The kept output of `side` ("ours", "theirs") of a pair that the index lists; empty when it is not there.
std::string Kept(const std::string& pair, const std::string& side) {
  const std::string folder = "tests/gpu/logs/compare/";
  const bool is_listed = ("\n" + Content(folder + "INDEX")).find("\n" + pair + "\n") != std::string::npos;
  return is_listed && !pair.empty() ? Content(folder + pair + "." + side) : "";
}

// Whether both programs of the pair were started with `flag`, in its long or short form.
bool HasFlag(const std::string& pair, const bench::Flag& flag) {
  for (const char* side : {"ours", "theirs"}) {
    const std::string text = Kept(pair, side);
    const std::string line = text.substr(0, text.find('\n')) + " ";
    const std::string letter = std::string(" -") + flag.letter + " ";
    const bool has_name = line.find(" --" + std::string(flag.name)) != std::string::npos;
    if (!has_name && (flag.letter == 0 || line.find(letter) == std::string::npos)) return false;
  }
  return true;
}

void ExpectThere(std::string_view row, const Tests& tests) {
  EXPECT_TRUE(IsThere(tests.unit)) << row << ": " << tests.unit.name;
  for (const TestName& test : tests.host) {
    EXPECT_TRUE(test.file.empty() || IsThere(test)) << row << ": " << test.name;
  }
  for (const std::string& pair : Pairs(tests)) {
    EXPECT_THAT(Kept(pair, "ours"), StartsWith("command: ")) << row << ": " << pair;
    EXPECT_THAT(Kept(pair, "theirs"), StartsWith("command: ")) << row << ": " << pair;
  }
}

TEST(CompatPageTest, EveryTestThatARowNamesIsThere) {
  for (const auto& row : CollectiveRows()) ExpectThere(row.name, row.tests);
  for (const auto& row : FlagRows()) ExpectThere(row.name, row.tests);
  for (const auto& row : VariableRows()) ExpectThere(row.name, row.tests);
}

TEST(CompatPageTest, EveryRowHasATestOverHostMemoryAndAPair) {
  for (const auto& row : CollectiveRows()) {
    EXPECT_NE(row.tests.host[0].file, "") << row.name;
    EXPECT_GE(Pairs(row.tests).size(), 2U) << row.name << ": one rank, and two";
  }
  for (const auto& flag : bench::Flags()) {
    for (const auto& row : FlagRows()) {
      if (row.name != flag.name) continue;
      EXPECT_NE(row.tests.host[0].file, "") << row.name;
      const bool is_theirs = flag.origin == bench::FlagOrigin::kNcclTests;
      // One GPU has one thread.
      EXPECT_EQ(Pairs(row.tests).empty(), !is_theirs || row.name == "nthreads") << row.name;
    }
  }
  for (const auto& row : VariableRows()) {
    EXPECT_EQ(row.tests.host[0].file.empty(), row.name == "NCCL_BENCH_NCCL_LIB") << row.name;
    EXPECT_EQ(Pairs(row.tests).empty(), row.name == "NCCL_BENCH_TEST_CORRUPT") << row.name;
  }
}

TEST(CompatPageTest, APairIsOfTheRowThatNamesIt) {
  for (const auto& row : CollectiveRows()) {
    for (const std::string& pair : Pairs(row.tests)) {
      EXPECT_THAT(Kept(pair, "theirs"), HasSubstr(" " + std::string(row.name) + "_perf ")) << pair;
    }
  }
  for (const auto& flag : bench::Flags()) {
    for (const auto& row : FlagRows()) {
      for (const std::string& pair : row.name == flag.name ? Pairs(row.tests) : std::vector<std::string>()) {
        // An unknown flag, which prints nccl-tests' help.
        EXPECT_TRUE(HasFlag(pair, flag) || row.name == "help") << row.name << ": " << pair;
      }
    }
  }
  for (const auto& row : VariableRows()) {
    for (const std::string& pair : Pairs(row.tests)) EXPECT_THAT(Kept(pair, "ours"), HasSubstr(std::string(row.name)));
  }
}

TEST(CompatPageTest, ATestThatIsNotThereIsSeen) {
  EXPECT_TRUE(IsThere({"bench/options_test.cc", "OptionsTest.RefusesTheRest"}));
  for (const TestName& test : std::vector<TestName>{{"bench/options_test.cc", "OptionsTest.RefusesTheRes"},
                                                    {"bench/options_test.cc", "OptionsTest.Refuses"},
                                                    {"bench/options_test.cc", "RefusesTheRest"},
                                                    {"bench/options_test.cc", ""},
                                                    {"bench/missing_test.cc", "OptionsTest.RefusesTheRest"},
                                                    {"tests/e2e/bench.bats", "a table"},
                                                    {"tests/e2e/missing.bats", "a table"},
                                                    {"", ""}}) {
    EXPECT_FALSE(IsThere(test)) << test.file << ": " << test.name;
  }
  EXPECT_TRUE(IsThere({"tests/mpi/collectives.cc", "MpiCollectivesTest.EveryRoot"}));
  EXPECT_NE(Kept("all_reduce", "ours"), "");
  for (const char* pair : {"", "all_reduc", "all_reduce-3", "time-1-all_reduce", "INDEX"})
    EXPECT_EQ(Kept(pair, "ours"), "");
  const bench::Flag& blocking = *std::ranges::find(bench::Flags(), "blocking", &bench::Flag::name);
  EXPECT_TRUE(HasFlag("blocking-1", blocking));
  for (const char* pair : {"all_reduce", "blocking-4", ""}) EXPECT_FALSE(HasFlag(pair, blocking)) << pair;
}

TEST(CompatPageTest, EveryCollectiveHasARow) {
  std::string names;
  for (const auto& row : CollectiveRows()) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
    EXPECT_THAT(CompatMarkdown(), HasSubstr("\n| " + std::string(row.name) + " | yes | yes |"));
  }
  EXPECT_EQ(names, bench::CollectiveNames());
}

TEST(CompatPageTest, EveryFlagHasARow) {
  std::multiset<std::string_view> rows;
  for (const auto& row : FlagRows()) rows.insert(row.name);
  EXPECT_EQ(rows.size(), bench::Flags().size());
  for (const auto& flag : bench::Flags()) {
    EXPECT_EQ(rows.count(flag.name), 1U) << flag.name;
    EXPECT_THAT(CompatMarkdown(), HasSubstr("\n| `" + bench::FlagNames(flag)));
  }
}

TEST(CompatPageTest, EveryVariableOfTheHelpHasARow) {
  std::multiset<std::string_view> rows;
  for (const auto& row : VariableRows()) {
    rows.insert(row.name);
    EXPECT_NE(row.nccl, "") << row.name;
    EXPECT_NE(row.mpi, "") << row.name;
  }
  EXPECT_EQ(rows.size(), bench::Variables().size());
  for (const auto& variable : bench::Variables()) EXPECT_EQ(rows.count(variable.name), 1U) << variable.name;
}

TEST(CompatPageTest, WhatHostMemoryHasNotIsAsTheProgramSays) {
  std::set<std::string_view> aside;
  for (const auto& row : FlagRows()) {
    const std::string cell = MpiCell(row);
    if (cell == "yes" || !row.mpi.empty()) continue;
    EXPECT_THAT(cell, StartsWith("left aside: ")) << row.name;
    aside.insert(row.name);
  }
  EXPECT_THAT(aside,
              ::testing::ElementsAre("cta_policy", "cudagraph", "device_cta_count", "device_implementation",
                                     "local_register", "memory", "nccl-debug", "nvtx", "parallel_init", "stream_null"));
}

}  // namespace
}  // namespace nccl_tune::compat
