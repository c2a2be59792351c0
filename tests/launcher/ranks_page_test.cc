// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/ranks_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "launcher/rank_catalog.h"

namespace nccl_tune::launcher {
namespace {

TEST(RanksPageTest, ThePageIsMadeFromTheTable) {
  std::ifstream file("docs/ranks.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(RanksMarkdown(), page) << "after a look at the difference: bazel run //tests/launcher:update_ranks_page";
}

TEST(RanksPageTest, EachRowIsWhole) {
  std::set<std::string_view> names;
  for (const auto& variable : RankVariables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " twice";
    EXPECT_FALSE(variable.meaning.empty() || variable.computed.empty() || variable.read_by.empty()) << variable.name;
    EXPECT_TRUE(variable.source.starts_with("https://")) << variable.name;
    EXPECT_NE(variable.value, nullptr) << variable.name;
  }
  for (const auto& left : RankVariablesLeftAlone()) {
    EXPECT_FALSE(left.why.empty()) << left.variables;
    EXPECT_TRUE(left.source.starts_with("https://")) << left.variables;
    for (const auto name : names) EXPECT_NE(left.variables, name);
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
