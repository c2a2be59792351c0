// SPDX-License-Identifier: Apache-2.0
#include "hw/scrub.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::hw {
namespace {

TEST(ScrubberTest, SameInputSameOutput) {
  Scrubber s;
  EXPECT_EQ(s.Mac("0c:42:a1:03:00:01"), "02:00:5e:00:00:01");
  EXPECT_EQ(s.Mac("0c:42:a1:03:00:02"), "02:00:5e:00:00:02");
  EXPECT_EQ(s.Mac("0c:42:a1:03:00:01"), "02:00:5e:00:00:01");
  EXPECT_EQ(s.Mac("00:00:00:00:00:00"), "00:00:00:00:00:00");
  EXPECT_EQ(s.Guid("0c42:a103:0003:0001"), "0200:5eff:fe01:0001");
  EXPECT_EQ(s.Guid("0000:0000:0000:0000"), "0000:0000:0000:0000");
}

TEST(ScrubberTest, AddressesFollowTheMacAddress) {
  Scrubber s;
  EXPECT_EQ(s.Mac("0c:42:a1:03:00:01"), "02:00:5e:00:00:01");
  EXPECT_EQ(s.Gid("fe80:0000:0000:0000:0e42:a1ff:fe03:0001"), "fe80:0000:0000:0000:0000:5eff:fe00:0001");
  EXPECT_EQ(s.Name("enx0c42a1030001"), "enx02005e000001");
  EXPECT_EQ(s.Name("ens5f1"), "ens5f1");
  EXPECT_EQ(s.Name("enxnothexdigits"), "enxnothexdigits");
}

TEST(ScrubberTest, PublicNetworksGoPrivateOnesStay) {
  Scrubber s;
  const auto v4 = [&](const char* text) { return s.Address(facts::ParseIpAddress(text).value()).ToString(); };
  EXPECT_EQ(v4("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(v4("172.31.20.12"), "172.31.20.12");
  EXPECT_EQ(v4("192.168.7.7"), "192.168.7.7");
  EXPECT_EQ(v4("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(v4("169.254.3.1"), "169.254.3.1");
  EXPECT_EQ(v4("8.8.4.4"), "100.65.4.4");
  EXPECT_EQ(v4("8.8.9.9"), "100.65.9.9");
  EXPECT_EQ(v4("1.1.1.1"), "100.66.1.1");
  EXPECT_EQ(v4("fd93:16d3:59b6:100::15"), "fd93:16d3:59b6:100::15");
  EXPECT_EQ(v4("2a00:1450::15"), "2001:db8:0:1::15");
  EXPECT_EQ(v4("::1"), "::1");
}

TEST(ScrubberTest, TextOfAnotherFormIsDropped) {
  Scrubber s;
  for (const char* text : {"", "0c:42:a1:03:00", "0c:42:a1:03:00:01:02", "0c-42-a1-03-00-01", "zz:42:a1:03:00:01",
                           "80:00:0a:cc:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:01:00:01"}) {
    EXPECT_EQ(s.Mac(text), "") << text;
  }
  for (const char* text : {"", "1", "0c42:a103:0003", "0c42:a103:0003:0001:0002", "host"})
    EXPECT_EQ(s.Guid(text), "") << text;
  EXPECT_EQ(s.Gid("fe80::1"), "");
}

}  // namespace
}  // namespace nccl_tune::hw
