// SPDX-License-Identifier: Apache-2.0
#include "hw/sysfs_text.h"

#include <gtest/gtest.h>

namespace nccl_tune::hw {
namespace {

using facts::LinkLayer;
using facts::NodeType;
using facts::PortState;
using facts::RoceVersion;

TEST(SysfsTextTest, PortState) {
  EXPECT_EQ(*ParsePortState("4: ACTIVE\n"), PortState::kActive);
  EXPECT_EQ(*ParsePortState("1: DOWN"), PortState::kDown);
  EXPECT_EQ(*ParsePortState("2: INIT"), PortState::kInit);
  EXPECT_EQ(*ParsePortState("3: ARMED"), PortState::kArmed);
  EXPECT_EQ(*ParsePortState("5: ACTIVE_DEFER"), PortState::kActiveDefer);
  EXPECT_EQ(*ParsePortState("9: NEW"), PortState::kOther);
  for (const char* text :
       {"", "\n", "ACTIVE", ": ACTIVE", "4", "x: ACTIVE", "4 ACTIVE", "0x4: ACTIVE", "4.0: ACTIVE"}) {
    const auto got = ParsePortState(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a port state");
  }
}

TEST(SysfsTextTest, APortStateThatContradictsItselfIsNone) {
  for (const char* text : {"4: DOWN", "1: ACTIVE", "4: ACTIVE please", "4:", "5: ACTIVE", "2: active"}) {
    const auto got = ParsePortState(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "number and name of the port's state contradict each other") << text;
  }
}

TEST(SysfsTextTest, PhysicalState) {
  EXPECT_EQ(*ParsePhysicalState("2: Polling\n"), "Polling");
  EXPECT_FALSE(ParsePhysicalState("Polling").ok());
  EXPECT_FALSE(ParsePhysicalState("").ok());
}

TEST(SysfsTextTest, LinkLayer) {
  EXPECT_EQ(ParseLinkLayer("InfiniBand\n"), LinkLayer::kInfiniBand);
  EXPECT_EQ(ParseLinkLayer("Ethernet\n"), LinkLayer::kEthernet);
  for (const char* text : {"", "Unknown", "Unspecified", "ethernet", "Ethernet II"}) {
    EXPECT_EQ(ParseLinkLayer(text), LinkLayer::kOther) << text;
  }
}

TEST(SysfsTextTest, Rate) {
  EXPECT_EQ(ParseRate("25 Gb/sec (1X EDR)\n")->value, 25);
  EXPECT_EQ(ParseRate("2.5 Gb/sec (1X SDR)")->value, 2.5);
  EXPECT_EQ(ParseRate("400 Gb/sec")->value, 400);
  for (const char* text :
       {"", "\n", "25", "Gb/sec", "0 Gb/sec (4X SDR)", "-25 Gb/sec", "25 Mb/sec", "25Gb/sec", "fast Gb/sec",
        "inf Gb/sec", "1e3 Gb/sec", "25 Gb/second", "99999999999999999999 Gb/sec", "100001 Gb/sec"}) {
    const auto got = ParseRate(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a rate");
  }
}

TEST(SysfsTextTest, RoceVersion) {
  EXPECT_EQ(*ParseRoceVersion("IB/RoCE v1\n"), RoceVersion::kV1);
  EXPECT_EQ(*ParseRoceVersion("RoCE v2\n"), RoceVersion::kV2);
  for (const char* text : {"", "RoCE", "RoCE v3", "roce v2", "RoCE v1", "2"})
    EXPECT_FALSE(ParseRoceVersion(text).ok()) << text;
}

TEST(SysfsTextTest, NodeType) {
  EXPECT_EQ(*ParseNodeType("1: CA\n"), NodeType::kChannelAdapter);
  EXPECT_EQ(*ParseNodeType("4: RNIC\n"), NodeType::kRnic);
  EXPECT_EQ(*ParseNodeType("7: unspecified\n"), NodeType::kOther);
  for (const char* text : {"", "CA", "one: CA"}) EXPECT_FALSE(ParseNodeType(text).ok()) << text;
}

TEST(SysfsTextTest, Lid) {
  EXPECT_EQ(*ParseLid("0x12\n"), 18u);
  EXPECT_EQ(*ParseLid("0"), 0u);
  for (const char* text : {"", "0x", "lid", "-1", "0x100000000"}) EXPECT_FALSE(ParseLid(text).ok()) << text;
}

TEST(SysfsTextTest, Pkey) {
  EXPECT_EQ(*ParsePkey("0xffff\n"), 0xffffu);
  EXPECT_EQ(*ParsePkey("0x8001"), 0x8001u);
  for (const char* text : {"", "0x", "key", "-1", "0x10000", "ffff"}) EXPECT_FALSE(ParsePkey(text).ok()) << text;
}

TEST(SysfsTextTest, VlanTable) {
  const auto got = ParseVlanConfig(
      "VLAN Dev name\t | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n"
      "eth0.100       | 100  | eth0\nstorage        | 7  | bond0\n");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "eth0.100");
  EXPECT_EQ(got[0].id, 100);
  EXPECT_EQ(got[0].parent, "eth0");
  EXPECT_EQ(got[1].parent, "bond0");
  for (const char* text : {"", "\n", "|", "||", "a|1", "a||b", "a|x|b", "a|-1|b", "a|4095|b", "|1|b", "a|1|",
                           "a|99999999999|b", "a|0x1|b"}) {
    EXPECT_TRUE(ParseVlanConfig(text).empty()) << text;
  }
}

TEST(SysfsTextTest, PciFunctionsFromTheRootDown) {
  const auto got = PciFunctionsOf("sys/devices/pci0000:00/0000:00:01.0/0000:03:00.1/infiniband/mlx5_2");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].ToString(), "0000:00:01.0");
  EXPECT_EQ(got[1].ToString(), "0000:03:00.1");
  EXPECT_TRUE(PciFunctionsOf("sys/devices/virtual/net/lo").empty());
  EXPECT_TRUE(PciFunctionsOf("").empty());
}

}  // namespace
}  // namespace nccl_tune::hw
