// SPDX-License-Identifier: Apache-2.0
#include "launcher/master_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hw/capture_tree.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::HasSubstr;

base::Result<MasterPort> Find(const Environment& environment, const char* local = "32768\t60999\n") {
  hw::Capture capture;
  capture.entries.emplace("proc/sys/net/ipv4/ip_local_port_range", hw::CaptureFile{.content = local});
  const hw::CaptureTree root(capture);
  return FindMasterPort({.job = "7", .step = "2"}, environment, root, getuid(), AtExec::kClosed);
}

TEST(MasterPortTest, ClaimsOneOfTheDefaultRange) {
  const auto found = Find({});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_GE(found->port, 20'000);
  EXPECT_LE(found->port, 28'000);
  EXPECT_EQ(found->port, found->claim.port());
  EXPECT_EQ(found->warning, "");
}

TEST(MasterPortTest, TheUsersIsNeitherClaimedNorLookedAt) {
  const auto found = Find({{"MASTER_PORT", "1"}, {"NCCL_TUNE_PORT_RANGE", "nonsense"}});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(found->port, 1);
  EXPECT_EQ(found->claim.port(), 0);
  EXPECT_EQ(found->claim.descriptor(), -1);
}

TEST(MasterPortTest, AnOuterStepsIsNotTheUsers) {
  const auto found = Find({{"MASTER_PORT", "29500"}, {"NCCL_TUNE_LAUNCH", "7.1"}});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_LE(found->port, 28'000);
}

TEST(MasterPortTest, RefusesWhatIsNoPortOrRange) {
  for (const char* text : {"", "0", "65536", "-1", "80 ", "http"}) {
    const auto found = Find({{"MASTER_PORT", text}});
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_THAT(found.error().ToString(), HasSubstr("MASTER_PORT: no port")) << text;
  }
  EXPECT_THAT(Find({{"NCCL_TUNE_PORT_RANGE", "9000-8000"}}).error().ToString(), HasSubstr("backwards"));
}

TEST(MasterPortTest, WarnsOfPortsThatTheKernelGivesAway) {
  EXPECT_THAT(Find({}, "1024\t65535").value().warning,
              HasSubstr("the kernel gives those from 1024 to 65535 to any connection"));
  EXPECT_EQ(Find({}, "28001 60999").value().warning, "");
  EXPECT_NE(Find({}, "28000 60999").value().warning, "");
  EXPECT_EQ(Find({}, "unreadable").value().warning, "");
}

}  // namespace
}  // namespace nccl_tune::launcher
