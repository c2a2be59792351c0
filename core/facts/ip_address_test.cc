// SPDX-License-Identifier: Apache-2.0
#include "core/facts/ip_address.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::facts {
namespace {

IpAddress Ip(const char* text) { return ParseIpAddress(text).value(); }

TEST(IpAddressTest, ParsesAndPrints) {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "::1", "2001:db8::1", "fe80::5eff:fe00:1002"}) {
    EXPECT_EQ(Ip(text).ToString(), text);
  }
  EXPECT_EQ(Ip("::ffff:10.0.0.1"), Ip("10.0.0.1"));
}

TEST(IpAddressTest, RefusesOtherText) {
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.1/24", "010.0.0.1.1", " 10.0.0.1", "10.0.0.1\n",
                           "fe80::1%eth0", "1:2:3:4:5:6:7:8:9", "host", ":::", "0x0a000001"}) {
    const auto got = ParseIpAddress(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not an IP address");
  }
}

TEST(IpAddressTest, Classes) {
  EXPECT_TRUE(Ip("0.0.0.0").IsZero());
  EXPECT_TRUE(Ip("::").IsZero());
  EXPECT_TRUE(Ip("127.8.0.1").IsLoopback());
  EXPECT_TRUE(Ip("::1").IsLoopback());
  EXPECT_TRUE(Ip("169.254.3.4").IsLinkLocal());
  EXPECT_TRUE(Ip("fe80::1").IsLinkLocal());
  EXPECT_FALSE(Ip("fec0::1").IsLinkLocal());
  EXPECT_TRUE(Ip("224.0.0.1").IsMulticast());
  EXPECT_TRUE(Ip("ff02::1").IsMulticast());
  for (const char* text : {"10.0.0.1", "172.20.0.11", "2001:db8::1", "fd93:16d3::15"}) {
    EXPECT_TRUE(Ip(text).IsRoutable()) << text;
  }
  for (const char* text : {"0.0.0.0", "127.0.0.1", "169.254.0.1", "fe80::1", "ff02::1", "::1", "::"}) {
    EXPECT_FALSE(Ip(text).IsRoutable()) << text;
  }
}

TEST(GidTest, ParsesSysfsForm) {
  EXPECT_EQ(ParseGid("0000:0000:0000:0000:0000:ffff:ac14:000b")->ToString(), "172.20.0.11");
  EXPECT_EQ(ParseGid("fe80:0000:0000:0000:0000:5eff:fe00:1002")->ToString(), "fe80::5eff:fe00:1002");
  EXPECT_TRUE(ParseGid("0000:0000:0000:0000:0000:0000:0000:0000")->IsZero());
}

TEST(GidTest, RefusesOtherForms) {
  for (const char* text :
       {"", "::1", "fe80::1", "0000:0000:0000:0000:0000:ffff:ac14:00b", "0000:0000:0000:0000:0000:ffff:ac14:000bb",
        "0000-0000:0000:0000:0000:ffff:ac14:000b", "000g:0000:0000:0000:0000:ffff:ac14:000b",
        "0000:0000:0000:0000:0000:ffff:ac14:000b\n", "+000:0000:0000:0000:0000:ffff:ac14:000b"}) {
    const auto got = ParseGid(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a GID");
  }
}

TEST(IpPrefixTest, ContainsAndNetwork) {
  const auto net = MakePrefix(Ip("172.20.0.11"), 24).value();
  EXPECT_TRUE(net.Contains(Ip("172.20.0.200")));
  EXPECT_FALSE(net.Contains(Ip("172.20.1.11")));
  EXPECT_FALSE(net.Contains(Ip("fe80::1")));
  EXPECT_EQ(net.Network().ToString(), "172.20.0.0/24");
  EXPECT_EQ(MakePrefix(Ip("10.11.12.13"), 20)->Network().ToString(), "10.11.0.0/20");
  EXPECT_EQ(MakePrefix(Ip("2001:db8::1"), 64)->Network().ToString(), "2001:db8::/64");
  EXPECT_TRUE(MakePrefix(Ip("10.0.0.1"), 0)->Contains(Ip("192.168.1.1")));
  EXPECT_FALSE(MakePrefix(Ip("10.0.0.1"), 32)->Contains(Ip("10.0.0.2")));
}

TEST(IpPrefixTest, LengthIsCheckedByFamily) {
  for (const std::int64_t bad : {-1, 33, 64}) EXPECT_FALSE(MakePrefix(Ip("10.0.0.1"), bad).ok()) << bad;
  EXPECT_EQ(MakePrefix(Ip("10.0.0.1"), 33).error().ToString(),
            "prefix length out of range: got \"33\", expected 0 to 32");
  EXPECT_TRUE(MakePrefix(Ip("fe80::1"), 128).ok());
  EXPECT_FALSE(MakePrefix(Ip("fe80::1"), 129).ok());
}

TEST(ParseIpPrefixTest, Table) {
  EXPECT_EQ(ParseIpPrefix("10.1.0.0/16")->ToString(), "10.1.0.0/16");
  EXPECT_EQ(ParseIpPrefix("10.1.2.3/0")->ToString(), "10.1.2.3/0");
  EXPECT_EQ(ParseIpPrefix("fd00::/8")->ToString(), "fd00::/8");
  for (const char* bad : {"", "/", "/8", "10.0.0.0", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8/8", "10.0.0.0/-1", "10/8",
                          "10.0.0.0/33", "fd00::/129", " 10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0/+8", "fd00::%eth0/8"}) {
    EXPECT_FALSE(ParseIpPrefix(bad).ok()) << bad;
  }
  EXPECT_EQ(ParseIpPrefix("10/8").error().ToString(),
            "not a network: got \"10/8\", expected one network such as 10.0.0.0/8 or fd00::/8");
}

}  // namespace
}  // namespace nccl_tune::facts
