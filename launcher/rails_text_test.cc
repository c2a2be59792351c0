// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "launcher/rails.h"

namespace nccl_tune::launcher {
namespace {

Rail Ethernet(double gbps, const std::string& network) {
  Rail out{.ethernet = true, .gbps = gbps, .mtu = 9000, .families = "46", .roce = 2};
  if (!network.empty()) out.network = facts::ParseIpPrefix(network).value_or({});
  return out;
}

std::vector<Rail> WithNetworks(const std::vector<std::string>& networks) {
  std::vector<Rail> out;
  for (const auto& network : networks) out.push_back(Ethernet(400, network));
  return out;
}

TEST(RailsTextTest, AlikeAreCounted) {
  const auto eight = std::vector<Rail>(8, Ethernet(400, "10.0.0.0/16"));
  EXPECT_EQ(EncodeKinds(eight), "8xE400m9000g46r2");
  EXPECT_EQ(EncodeNetworks(eight), "10.0.0.0/16x8");
  const std::vector<Rail> mixed = {Ethernet(2.5, ""), Rail{}, Rail{}};
  EXPECT_EQ(EncodeKinds(mixed), "E2.5m9000g46r2,2xI");
  EXPECT_EQ(EncodeNetworks(mixed), "-x3");
  EXPECT_EQ(EncodeKinds({}), "");
  EXPECT_EQ(EncodeNetworks({}), "");
}

TEST(RailsTextTest, NetworksThatFollowEachOtherAreAStep) {
  struct Row {
    std::vector<std::string> networks;
    std::string text;
  };
  const std::vector<Row> rows = {
      {{"172.20.0.0/24", "172.20.1.0/24", "172.20.2.0/24"}, "172.20.0.0/24+1x3"},
      {{"10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24"}, "10.1.0.0/24+256x3"},
      {{"10.0.0.0/31", "10.0.0.2/31"}, "10.0.0.0/31+1x2"},
      {{"10.3.0.0/24", "10.1.0.0/24"}, "10.3.0.0/24,10.1.0.0/24"},
      {{"10.1.0.0/24", "10.2.0.0/16"}, "10.1.0.0/24,10.2.0.0/16"},
      {{"10.1.0.0/24", "", "10.2.0.0/24"}, "10.1.0.0/24,-,10.2.0.0/24"},
      {{"fd00:0:0:1::/64", "fd00:0:0:2::/64"}, "fd00:0:0:1::/64+1x2"},
      {{"fd00::1:0/112", "fd00::2:0/112"}, "fd00::1:0/112,fd00::2:0/112"},
      {{"fe80::/64", "fe80::/64"}, "fe80::/64x2"},
      {{"0.0.0.0/0", "0.0.0.0/0", "10.0.0.0/8"}, "0.0.0.0/0x2,10.0.0.0/8"},
  };
  for (const auto& row : rows) {
    const auto rails = WithNetworks(row.networks);
    EXPECT_EQ(EncodeNetworks(rails), row.text);
    const auto back = DecodeRails(EncodeKinds(rails), row.text);
    ASSERT_TRUE(back.ok()) << row.text << " " << back.error().ToString();
    EXPECT_EQ(*back, rails) << row.text;
  }
}

TEST(RailsTextTest, RefusesOtherText) {
  struct Row {
    const char* kinds;
    const char* networks;
    const char* what;
  };
  const std::vector<Row> rows = {
      {"E", "", "other networks than rails"},
      {"", "-", "other networks than rails"},
      {"E", "-x2", "other networks than rails"},
      {"E,", "-x2", "not a kind of rail"},
      {",", "-x2", "not a kind of rail"},
      {"X400", "-", "not a kind of rail"},
      {"400", "-", "not a kind of rail"},
      {"E400m", "-", "not a kind of rail"},
      {"E4.0.0", "-", "not a kind of rail"},
      {"E1e9", "-", "not a kind of rail"},
      {"E9999999", "-", "not a kind of rail"},
      {"E0", "-", "not a kind of rail"},
      {"E0.0000000000000000001", "-", "not a kind of rail"},
      {"E400m9000x", "-", "not a count of rails"},
      {"E400g", "-", "not a kind of rail"},
      {"E400g5", "-", "not a kind of rail"},
      {"E400g44", "-", "not a kind of rail"},
      {"E400g464", "-", "not a kind of rail"},
      {"E400r3", "-", "not a kind of rail"},
      {"E400r2m9000", "-", "not a kind of rail"},
      {"E400 ", "-", "not a kind of rail"},
      {"0xE", "-", "not a count of rails"},
      {"xE", "-", "not a count of rails"},
      {"08xE", "-x8", "not a count of rails"},
      {"65xE", "-x65", "not a count of rails"},
      {"-1xE", "-", "not a count of rails"},
      {"64xE,E", "-x65", "too many rails"},
      {"E", "10.0.0.0", "not a network"},
      {"E", "10.0.0.1/24", "a network with host bits"},
      {"E", "10.0.0.0/33", "prefix length out of range"},
      {"E", "10.0.0.0/24+1", "not a step between networks"},
      {"2xE", "10.0.0.0/24+x2", "not a step between networks"},
      {"2xE", "10.0.0.0/24+-1x2", "not a step between networks"},
      {"2xE", "255.255.255.0/24+1x2", "networks beyond the last one"},
      {"2xE", "fd00::/96+1x2", "networks beyond the last one"},
      {"2xE", "::/64+18446744073709551615x0", "not a count of rails"},
      {"2xE", "10.0.0.0/24x65", "not a count of rails"},
  };
  for (const auto& row : rows) {
    const auto rails = DecodeRails(row.kinds, row.networks);
    ASSERT_FALSE(rails.ok()) << row.kinds << " " << row.networks;
    EXPECT_TRUE(rails.error().what.starts_with(row.what))
        << row.kinds << " " << row.networks << ": " << rails.error().ToString();
  }
}

TEST(LayoutTextTest, ThereAndBack) {
  for (const char* layout : {"", "u", "uuuuuuuuoo", "ududud", "uuuud"}) {
    const auto back = DecodeLayout(EncodeLayout(layout));
    ASSERT_TRUE(back.ok()) << layout;
    EXPECT_EQ(*back, layout);
  }
  EXPECT_EQ(EncodeLayout("uuuuuuuuoo"), "8u2o");
}

TEST(LayoutTextTest, RefusesOtherText) {
  for (const char* text : {"8", "x", "8x", "0u", "-1u", "u8", "257u", "256uu", "99999999999u", " u", "8 u", "U"}) {
    const auto layout = DecodeLayout(text);
    ASSERT_FALSE(layout.ok()) << text;
    EXPECT_EQ(layout.error().what, "not a layout of ports") << text;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
