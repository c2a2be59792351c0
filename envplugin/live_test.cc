// SPDX-License-Identifier: Apache-2.0
//
// On whatever machine the test runs: that it answers or says why, in time, and leaves the process as it was.
#include "envplugin/live.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace nccl_tune::envplugin {
namespace {

constexpr nccl::NcclVersion kVersion{2, 28, 9};
constexpr std::chrono::milliseconds kPatient{60000};  // a loaded machine under a sanitizer

std::ptrdiff_t CountOpen(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return std::distance(begin(entries), end(entries));
}

TEST(LiveTest, DecidesTheSameTwice) {
  const auto first = DecideHere({}, kVersion, kPatient);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  const auto second = DecideHere({}, kVersion, kPatient);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->values, second->values);
  EXPECT_EQ(first->explanation, "") << "not asked for";
}

TEST(LiveTest, LeavesNoDescriptorAndNoThread) {
  const auto descriptors = CountOpen("/proc/self/fd");
  const auto threads = CountOpen("/proc/self/task");
  ASSERT_TRUE(DecideHere({}, kVersion, kPatient).ok());
  EXPECT_EQ(CountOpen("/proc/self/fd"), descriptors);
  EXPECT_EQ(CountOpen("/proc/self/task"), threads);
}

TEST(LiveTest, LateIsNoDecision) {
  const auto late = DecideHere({}, kVersion, std::chrono::milliseconds(0));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, base::Code::kTimeout);
  EXPECT_EQ(late.error().ToString(), "reading this node took longer than 0 ms");
}

TEST(LiveTest, OffIsNeverLate) {
  const auto off = DecideHere({{"NCCL_TUNE", "off"}}, kVersion, std::chrono::milliseconds(0));
  ASSERT_TRUE(off.ok()) << off.error().ToString();
  EXPECT_EQ(off->nothing, "NCCL_TUNE=off");
  EXPECT_TRUE(off->values.empty());
}

}  // namespace
}  // namespace nccl_tune::envplugin
