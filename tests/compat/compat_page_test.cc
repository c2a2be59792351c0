// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/compat_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
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

TEST(CompatPageTest, EveryTestThatARowNamesIsThere) {
  for (const auto& row : CollectiveRows()) EXPECT_TRUE(IsThere(row.test)) << row.name << ": " << row.test.name;
  for (const auto& row : FlagRows()) EXPECT_TRUE(IsThere(row.test)) << row.name << ": " << row.test.name;
  for (const auto& row : VariableRows()) EXPECT_TRUE(IsThere(row.test)) << row.name << ": " << row.test.name;
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
