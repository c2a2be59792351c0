// SPDX-License-Identifier: Apache-2.0
#include "hw/local_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/directory_tree.h"

namespace nccl_tune::hw {
namespace {

using ::testing::HasSubstr;

TEST(LocalPortsTest, ReadsTheKernels) {
  for (const char* text : {"32768\t60999\n", "32768 60999", " 32768  60999 "}) {
    const auto ports = ParseLocalPorts(text);
    ASSERT_TRUE(ports.ok()) << text;
    EXPECT_EQ(ports->first, 32768) << text;
    EXPECT_EQ(ports->last, 60999) << text;
  }
}

TEST(LocalPortsTest, RefusesTheRest) {
  for (const char* text : {"", "\n", "32768", "32768\t", "60999\t32768", "32768-60999", "32768\t60999\t1", "1 65536",
                           "-1 2", "a b", "0x10 0x20"}) {
    const auto ports = ParseLocalPorts(text);
    ASSERT_FALSE(ports.ok()) << text;
    EXPECT_THAT(ports.error().ToString(), HasSubstr("ip_local_port_range: malformed: got")) << text;
  }
}

TEST(LocalPortsTest, ReadsThisMachine) {
  const auto root = DirectoryTree::Open("/");
  ASSERT_TRUE(root.ok());
  const auto ports = ReadLocalPorts(**root);
  ASSERT_TRUE(ports.ok()) << ports.error().ToString();
  EXPECT_LE(ports->first, ports->last);
}

}  // namespace
}  // namespace nccl_tune::hw
