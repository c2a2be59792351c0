// SPDX-License-Identifier: Apache-2.0
//
// What it sends where somebody listens is the business of report_collector_test.cc.
#include "spank/report_sender.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::spank {
namespace {

constexpr std::chrono::milliseconds kShort{200};

TEST(SendReportTest, WhereNobodyListens) {
  const Report report{.node = "n", .key = "", .text = "x"};
  const std::string token = ":0123456789abcdef0123456789abcdef:";
  EXPECT_FALSE(SendReport("", report, kShort));
  EXPECT_FALSE(SendReport("nonsense", report, kShort));
  EXPECT_FALSE(SendReport("1" + token + "127.0.0.1", report, kShort));
  EXPECT_FALSE(SendReport("1" + token + "::1,127.0.0.1", report, kShort));
  EXPECT_FALSE(SendReport("1" + token + "203.0.113.1", report, kShort)) << "a network that answers nothing";
}

}  // namespace
}  // namespace nccl_tune::spank
