// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/gid_ranking.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kV228{2, 28, 9};

// "LL1, 10.0.0.1/2, -, 10.0.0.1/?": address and RoCE version by index. LL is a fe80 address, "-" an empty slot, "?" a
// type that cannot be read.
facts::IbPort MakePort(std::string_view table) {
  facts::IbPort port;
  port.number = 1;
  port.state = facts::PortState::kActive;
  port.link_layer = facts::LinkLayer::kEthernet;
  for (int index = 0; !table.empty(); ++index) {
    const std::size_t end = table.find(',');
    std::string_view entry = table.substr(0, end);
    entry.remove_prefix(entry.find_first_not_of(' '));
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
    if (entry == "-") continue;
    const std::size_t slash = entry.find('/');
    const std::string_view address = entry.substr(0, slash);
    facts::Gid gid{.index = index, .address = {}, .version = std::nullopt, .netdev = std::nullopt};
    gid.address = *facts::ParseIpAddress(address == "LL" ? "fe80::5eff:fe00:1002" : address);
    if (entry.substr(slash) != "/?")
      gid.version = entry.ends_with('2') ? facts::RoceVersion::kV2 : facts::RoceVersion::kV1;
    port.gids.push_back(gid);
  }
  return port;
}

TEST(GidRankingTest, Vectors) {
  const struct {
    const char* table;
    int plain;
    int inet6;
    int range10;
    int range192;
  } rows[] = {
      {"LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2", 3, 0, 3, 0},
      {"LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2, 192.168.5.1/1, 192.168.5.1/2", 3, 0, 3, 5},
      {"LL/1, LL/2", 0, 0, 0, 0},
      {"LL/1, LL/2, 2001:db8::1/1, 2001:db8::1/2", 0, 3, 0, 0},
      {"-, -, -, -, LL/1, LL/2, 10.152.0.12/1, 10.152.0.12/2", 7, 0, 7, 0},
      {"LL/1, 10.0.0.1/1", 1, 0, 1, 0},
      {"10.0.0.1/2, 192.168.5.1/2", 0, 0, 0, 0},
      {"LL/1, LL/2, 169.254.3.4/1, 169.254.3.4/2, 10.0.0.1/1, 10.0.0.1/2", 3, 0, 5, 0},
      {"LL/2, LL/1, 10.0.0.1/2, 10.0.0.1/1", 2, 0, 2, 0},
  };
  for (const NcclVersion version : {NcclVersion{2, 21, 5}, NcclVersion{2, 25, 1}, kV228, NcclVersion{2, 32, 3}}) {
    for (const auto& row : rows) {
      const facts::IbPort port = MakePort(row.table);
      EXPECT_EQ(ChooseGid(port, version, {}).index, row.plain) << row.table;
      EXPECT_EQ(ChooseGid(port, version, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}).index, row.inet6) << row.table;
      EXPECT_EQ(ChooseGid(port, version, {{"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"}}).index, row.range10) << row.table;
      EXPECT_EQ(ChooseGid(port, version, {{"NCCL_IB_ADDR_RANGE", "192.168.0.0/16"}}).index, row.range192) << row.table;
    }
  }
}

TEST(GidRankingTest, SaysWhy) {
  const struct {
    const char* table;
    Environment environment;
    GidRule rule;
    const char* reason;
  } rows[] = {
      {"LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2", {}, GidRule::kVersion, "first IPv4 GID with RoCE version 2"},
      {"LL/1, 10.0.0.1/1", {}, GidRule::kFamily, "first IPv4 GID, no later one beats it"},
      {"LL/1, LL/2", {}, GidRule::kIndexZero, "index 0 is kept: no other GID is a valid IPv4 address"},
      {"10.0.0.1/2, 192.168.5.1/2",
       {{"NCCL_IB_ADDR_RANGE", "192.168.0.0/16"}},
       GidRule::kIndexZero,
       "index 0 is kept: it is an IPv4 GID and no other beats it"},
      {"LL/1, 10.0.0.1/2",
       {{"NCCL_IB_ADDR_RANGE", "192.168.0.0/16"}},
       GidRule::kIndexZero,
       "index 0 is kept: no other GID is a valid IPv4 address in the range"},
      {"-, LL/2", {}, GidRule::kIndexZero, "index 0 is kept: no other GID is a valid IPv4 address; that slot is empty"},
      {"LL/1, 10.0.0.1/2", {{"NCCL_IB_GID_INDEX", "1"}}, GidRule::kPinned, "NCCL_IB_GID_INDEX names it"},
      {"LL/1, 10.0.0.1/2",
       {{"NCCL_IB_GID_INDEX", "5"}},
       GidRule::kPinned,
       "NCCL_IB_GID_INDEX names it; that slot is empty"},
  };
  for (const auto& row : rows) {
    const GidChoice got = ChooseGid(MakePort(row.table), kV228, row.environment);
    EXPECT_EQ(got.rule, row.rule) << row.table;
    EXPECT_EQ(got.reason, row.reason) << row.table;
    EXPECT_EQ(got.gid.has_value(), got.reason.find("empty") == std::string::npos);
  }
}

TEST(GidRankingTest, VariablesThatDoNotSayWhatTheySeemTo) {
  const facts::IbPort port = MakePort("LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2, 192.168.5.1/1, 192.168.5.1/2");
  const struct {
    const char* name;
    const char* value;
    int index;
  } rows[] = {
      {"NCCL_IB_GID_INDEX", "", 3},
      {"NCCL_IB_GID_INDEX", "-1", 3},
      {"NCCL_IB_GID_INDEX", "-7", 3},
      {"NCCL_IB_GID_INDEX", "auto", 0},
      {"NCCL_IB_GID_INDEX", "03", 3},
      {"NCCL_IB_GID_INDEX", "010", 8},
      {"NCCL_IB_GID_INDEX", "2 # v1", 2},
      {"NCCL_IB_GID_INDEX", "99999999999999999999", 3},
      {"NCCL_IB_ADDR_FAMILY", "", 3},
      {"NCCL_IB_ADDR_FAMILY", "af_inet6", 3},
      {"NCCL_IB_ADDR_FAMILY", "AF_INET6 ", 3},
      {"NCCL_IB_ADDR_FAMILY", "inet6", 3},
      {"NCCL_IB_ADDR_RANGE", "", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.5.0", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.0.0/33", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.0/16", 3},
      {"NCCL_IB_ADDR_RANGE", "2001:db8::/32", 3},
      {"NCCL_IB_ADDR_RANGE", " 192.168.0.0/16", 3},
      {"NCCL_IB_ADDR_RANGE", "host/16", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.0.0/x", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.0.0/0", 3},
      {"NCCL_IB_ADDR_RANGE", "192.168.0.0/-1", 0},
      {"NCCL_IB_ADDR_RANGE", "192.168.77.77/16", 5},
      {"NCCL_IB_ADDR_RANGE", "192.168.5.1/32", 5},
      {"NCCL_IB_ADDR_RANGE", "192.168.5.2/31", 0},
      {"NCCL_IB_ADDR_RANGE", "192.168.5.0/24,10.0.0.0/8", 5},
      {"NCCL_IB_ADDR_RANGE", "172.20.0.0/12", 0},
      {"NCCL_IB_ROCE_VERSION_NUM", "1", 2},
      {"NCCL_IB_ROCE_VERSION_NUM", "", 3},
      {"NCCL_IB_ROCE_VERSION_NUM", "v2", 2},
      {"NCCL_IB_ROCE_VERSION_NUM", "3", 2},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ChooseGid(port, kV228, {{row.name, row.value}}).index, row.index) << row.name << "=" << row.value;
  }
}

TEST(GidRankingTest, IPv6Ranges) {
  const facts::IbPort port = MakePort("LL/1, LL/2, fd00:1::1/1, fd00:1::1/2, fd00:2::1/1, fd00:2::1/2");
  const auto choose = [&](const char* range) {
    return ChooseGid(port, kV228, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}, {"NCCL_IB_ADDR_RANGE", range}}).index;
  };
  EXPECT_EQ(choose("fd00::/8"), 3);
  EXPECT_EQ(choose("fd00:2::/32"), 5);
  EXPECT_EQ(choose("fd00:2::1/128"), 5);
  EXPECT_EQ(choose("fd00:2::/129"), 3);
  EXPECT_EQ(choose("10.0.0.0/8"), 3);
  EXPECT_EQ(choose("fd00:3::/32"), 0);
}

TEST(GidRankingTest, ZeroIsOfTheIPv6Family) {
  const Environment inet6 = {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}};
  const facts::IbPort port = MakePort("10.0.0.1/1, 10.0.0.1/2");
  EXPECT_EQ(ChooseGid(port, kV228, inet6).index, 0);
  const GidChoice longer = ChooseGid(port, kV228, inet6, 16);
  EXPECT_EQ(longer.index, 2);
  EXPECT_FALSE(longer.gid.has_value());
  EXPECT_EQ(ChooseGid(MakePort("10.0.0.1/1, -, LL/2, 2001:db8::1/2"), kV228, inet6).index, 3);
  EXPECT_EQ(ChooseGid(port, kV228, {}, 256).index, 1);
  EXPECT_EQ(ChooseGid(MakePort(""), kV228, {}, 256).index, 0);
}

TEST(GidRankingTest, UnreadableTypesEndOldInits) {
  const struct {
    const char* table;
    const char* family;
    bool old_fails;
    int index;
  } rows[] = {
      {"LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/?", "AF_INET", true, 2},
      {"LL/1, LL/2, 10.0.0.1/?, 10.0.0.2/2", "AF_INET", true, 3},
      {"LL/1, LL/2, 10.0.0.1/?", "AF_INET", false, 2},
      {"LL/1, LL/?, 10.0.0.1/1, 10.0.0.1/2", "AF_INET", false, 3},
      {"-, -, LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2", "AF_INET", false, 5},
      {"-, -, 2001:db8::1/1, 2001:db8::1/2", "AF_INET6", true, 3},
      {"LL/?, 2001:db8::1/2", "AF_INET6", true, 1},
  };
  for (const auto& row : rows) {
    const facts::IbPort port = MakePort(row.table);
    const Environment environment = {{"NCCL_IB_ADDR_FAMILY", row.family}};
    for (const NcclVersion version : {NcclVersion{2, 21, 5}, NcclVersion{2, 22, 3}, NcclVersion{2, 25, 1}}) {
      const GidChoice got = ChooseGid(port, version, environment);
      EXPECT_EQ(got.index.has_value(), !row.old_fails) << row.table;
      EXPECT_EQ(got.rule == GidRule::kInitFails, row.old_fails) << row.table;
    }
    EXPECT_EQ(ChooseGid(port, {2, 26, 2}, environment).index, row.index) << row.table;
    EXPECT_EQ(ChooseGid(port, {2, 32, 3}, environment).index, row.index) << row.table;
  }
  EXPECT_EQ(ChooseGid(MakePort("LL/1, 10.0.0.1/1, 10.0.0.1/?"), {2, 25, 1}, {}).reason,
            "the GID type of index 2 cannot be read, which ends the init of NCCL before 2.26.2");
  EXPECT_EQ(ChooseGid(MakePort("LL/1, 10.0.0.1/?, 10.0.0.1/2"), {2, 25, 1}, {}).reason,
            "the GID type of index 1 cannot be read, which ends the init of NCCL before 2.26.2");
  // A pinned index is not looked at.
  EXPECT_EQ(ChooseGid(MakePort("LL/1, 10.0.0.1/1, 10.0.0.1/?"), {2, 25, 1}, {{"NCCL_IB_GID_INDEX", "2"}}).index, 2);
}

TEST(GidRankingTest, BeforeTheAutomaticChoice) {
  const facts::IbPort port = MakePort("LL/1, LL/2, 10.0.0.1/1, 10.0.0.1/2");
  for (const NcclVersion version : {NcclVersion{2, 18, 6}, NcclVersion{2, 20, 5}}) {
    EXPECT_EQ(ChooseGid(port, version, {}).index, 0);
    EXPECT_EQ(ChooseGid(port, version, {}).rule, GidRule::kOldDefault);
    EXPECT_EQ(ChooseGid(port, version, {{"NCCL_IB_GID_INDEX", "3"}}).index, 3);
    EXPECT_FALSE(ChooseGid(port, version, {{"NCCL_IB_GID_INDEX", "-1"}}).index.has_value());
  }
}

TEST(GidRankingTest, InfiniBand) {
  facts::IbPort port;
  port.link_layer = facts::LinkLayer::kInfiniBand;
  port.gids = {{.index = 0, .address = *facts::ParseIpAddress("fe80::1"), .version = {}, .netdev = {}}};
  EXPECT_EQ(ChooseGid(port, kV228, {}).index, 0);
  EXPECT_EQ(ChooseGid(port, kV228, {{"NCCL_IB_GID_INDEX", "3"}}).index, 0);
  EXPECT_EQ(ChooseGid(port, {2, 21, 5}, {{"NCCL_IB_GID_INDEX", "3"}}).index, 3);
  EXPECT_EQ(ChooseGid(port, {2, 21, 5}, {}).index, 0);
  EXPECT_EQ(ChooseGid(port, {2, 20, 5}, {{"NCCL_IB_GID_INDEX", "1"}}).index, 1);
  port.gids.push_back({.index = 1, .address = *facts::ParseIpAddress("fec0:0:5::1"), .version = {}, .netdev = {}});
  EXPECT_EQ(ChooseGid(port, kV228, {}).index, 1);
  EXPECT_EQ(ChooseGid(port, kV228, {}).rule, GidRule::kRoutableFlid);
  EXPECT_EQ(ChooseGid(port, kV228, {{"NCCL_IB_ROUTABLE_FLID_GID_INDEX", "0"}}).index, 0);
  EXPECT_EQ(ChooseGid(port, {2, 21, 5}, {}).index, 0);
}

}  // namespace
}  // namespace nccl_tune::nccl
