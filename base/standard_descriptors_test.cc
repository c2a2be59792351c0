// SPDX-License-Identifier: Apache-2.0
#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace nccl_tune::base {
namespace {

// Closes some, calls it, and ends with what is wrong: 0 nothing, 1 the answer, 2 one is closed, 3 a new file gets one.
[[noreturn]] void Without(const std::vector<int>& closed, bool has_output) {
  for (const int one : closed) close(one);
  if (OpenStandardDescriptors() != has_output) std::_Exit(1);
  for (const int one : {0, 1, 2}) {
    if (fcntl(one, F_GETFD) < 0) std::_Exit(2);
  }
  std::_Exit(open("/dev/null", O_RDONLY) > 2 ? 0 : 3);
}

TEST(StandardDescriptorsDeathTest, NoFileGetsTheirNumbers) {
  const struct {
    std::vector<int> closed;
    bool has_output;
  } rows[] = {{{}, true},      {{0}, true},    {{1}, false},    {{2}, true},
              {{0, 1}, false}, {{0, 2}, true}, {{1, 2}, false}, {{0, 1, 2}, false}};
  for (const auto& row : rows) {
    EXPECT_EXIT(Without(row.closed, row.has_output), testing::ExitedWithCode(0), "") << row.closed.size();
  }
}

TEST(StandardDescriptorsDeathTest, AnOpenOneIsKept) {
  EXPECT_EXIT(
      {
        close(0);
        static_cast<void>(OpenStandardDescriptors());
        static_cast<void>(!write(STDERR_FILENO, "still mine", 10));
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^still mine$");
}

}  // namespace
}  // namespace nccl_tune::base
