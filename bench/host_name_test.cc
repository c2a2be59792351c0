// SPDX-License-Identifier: Apache-2.0
#include "bench/host_name.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace nccl_tune::bench {
namespace {

TEST(HostNameTest, WithoutDomain) {
  for (const auto& [name, expected] :
       {std::pair("server1", "server1"), std::pair("server1.example.org", "server1"), std::pair("a-b.c", "a-b"),
        std::pair("", ""), std::pair(".", ""), std::pair(".example", "")}) {
    EXPECT_EQ(WithoutDomain(name), expected) << name;
  }
}

TEST(HostNameTest, IsTheSystems) {
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  EXPECT_EQ(HostName(), WithoutDomain(system.nodename));
}

}  // namespace
}  // namespace nccl_tune::bench
