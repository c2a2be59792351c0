// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <gtest/gtest.h>

#include <array>

namespace nccl_tune::base {
namespace {

TEST(EnvironmentTest, CopiesNamesAndValues) {
  const std::array<const char*, 7> entries = {"B=2", "A=1=1", "EMPTY=", "no equals", "=x", "A=later", nullptr};
  const Environment copy = CopyEnvironment(entries.data());
  EXPECT_EQ(copy.size(), 3U);
  EXPECT_EQ(Lookup(copy, "A"), "1=1");
  EXPECT_EQ(Lookup(copy, "EMPTY"), "");
  EXPECT_EQ(Lookup(copy, "C"), std::nullopt);
  EXPECT_EQ(ToEntries(copy), (std::vector<std::string>{"A=1=1", "B=2", "EMPTY="}));
}

TEST(EnvironmentTest, NoListIsEmpty) { EXPECT_TRUE(CopyEnvironment(nullptr).empty()); }

}  // namespace
}  // namespace nccl_tune::base
