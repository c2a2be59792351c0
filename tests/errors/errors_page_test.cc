// SPDX-License-Identifier: Apache-2.0
#include "tests/errors/errors_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "launcher/known_errors.h"

namespace nccl_tune::errors {
namespace {

TEST(ErrorsPageTest, ThePageIsMadeFromTheTable) {
  std::ifstream file("docs/errors.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(ErrorsMarkdown(), page) << "bazel run //tests/errors:update_errors_page rewrites it; review the diff";
}

TEST(ErrorsPageTest, EveryRowIsThere) {
  const std::string page = ErrorsMarkdown();
  for (const auto& row : launcher::KnownErrors()) {
    EXPECT_NE(page.find("\n" + std::string(row.id) + "\n"), std::string::npos) << row.id;
    EXPECT_NE(page.find(row.source), std::string::npos) << row.id;
  }
}

}  // namespace
}  // namespace nccl_tune::errors
