// SPDX-License-Identifier: Apache-2.0
#include "hw/read_netdevs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_device.h"
#include "hw/test_machine.h"
#include "hw/test_show.h"

namespace nccl_tune::hw {
namespace {

using facts::NetdevKind;
using Notes = std::vector<facts::Note>;

std::vector<facts::Netdev> ReadWith(const Tree& tree, const std::vector<InterfaceFacts>& interfaces, Notes* notes) {
  DeviceReader devices;
  return ReadNetdevs(tree, interfaces, &devices, notes);
}

std::vector<facts::Netdev> Read(const Tree& tree, Notes* notes) {
  Notes ip_notes;
  return ReadWith(tree, ReadIpFiles(tree, &ip_notes).interfaces, notes);
}

TEST(ReadNetdevsTest, TakesEveryInterfaceByIndex) {
  Notes notes;
  const auto got = Read(CaptureTree(ParseMachine(kMachineText)), &notes);
  ASSERT_EQ(got.size(), 5u);
  EXPECT_EQ(Show(got[0]), "lo 1 kind1 up running mtu65536 127.0.0.1/8");
  EXPECT_EQ(Show(got[1]), "eno1 2 kind0 up running mtu1500 1G 0000:00:05.0 igb in bond0");
  EXPECT_EQ(Show(got[2]),
            "ens5f1 4 kind0 up running mtu9000 25G 0000:03:00.1 numa1 mlx5_core 172.20.0.11/24"
            " 2a00:1450:4001:800:e42:a1ff:fe03:3/64 fe80::e42:a1ff:fe03:3/64link");
  EXPECT_EQ(Show(got[3]), "bond0 5 kind3 up running mtu1500 mode x has eno1 8.8.4.4/24");
  EXPECT_EQ(Show(got[4]), "enx0c42a1030008 7 kind0 0000:00:06.0 usb 169.254.3.1/17");
  EXPECT_TRUE(notes.empty());
}

TEST(ReadNetdevsTest, OneLostFileCostsOneFact) {
  const std::string folder = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/net/ens5f1";
  const struct {
    const char* path;
    const char* from;
    const char* to;
    bool noted;
  } rows[] = {
      {"/ifindex", "", "", true},  // ip knows it as well
      {"/flags", "", "", true},    // the same
      {"/type", "", "", true},     // a device is physical without it
      {"/operstate", " running", "", true},
      {"/mtu", " mtu9000", "", true},
      {"/speed", " 25G", "", false},  // fails on every interface that is down: no news
      {"/device", "", "", false},     // the place itself tells the device
      {"/../../numa_node", " numa1", "", true},
      {"/../../driver", " mlx5_core", "", false},
      {"/uevent", "", "", false},
  };
  const CaptureTree whole(ParseMachine(kMachineText));
  Notes none;
  const std::string before = Show(Read(whole, &none)[2]);
  for (const auto& row : rows) {
    const std::string name(row.path);
    const std::string path =
        name.starts_with("/../..") ? folder.substr(0, folder.find("/net/")) + name.substr(6) : folder + name;
    Notes notes;
    const auto got = Read(SpoiltTree(whole, path, base::Code::kForbidden), &notes);
    ASSERT_EQ(got.size(), 5u) << row.path;
    std::string expected = before;
    ASSERT_NE(expected.find(row.from), std::string::npos) << row.path;
    expected.replace(expected.find(row.from), std::string(row.from).size(), row.to);
    EXPECT_EQ(Show(got[2]), expected) << row.path;
    ASSERT_EQ(notes.size(), row.noted ? 1u : 0u) << row.path;
    if (row.noted) {
      EXPECT_EQ(notes[0].what, "spoilt") << row.path;
    }
  }
}

// One interface, made from a few lines below its folder and one member of ip's JSON.
facts::Netdev ReadOne(const std::string& lines, const std::string& ip, Notes* notes) {
  const std::string text = "nccl-tune-capture 1\nin sys/class/net/x\noperstate = up\nflags = 0x1003\n" + lines +
                           "\nin .\nip-addr.json = [{\"ifname\":\"x\",\"ifindex\":9" + ip + "}]\n";
  const auto got = Read(CaptureTree(ParseMachine(text)), notes);
  return got.size() == 1 ? got[0] : facts::Netdev{};
}

TEST(ReadNetdevsTest, KindByTheFirstSignThatDecides) {
  const struct {
    const char* lines;
    const char* ip;
    NetdevKind kind;
  } rows[] = {
      {"type = 1", "", NetdevKind::kOtherVirtual},
      {"type = 1\ndevice/vendor = 0x15b3", "", NetdevKind::kPhysical},
      {"type = 772", "", NetdevKind::kLoopback},
      {"", ",\"link_type\":\"loopback\"", NetdevKind::kLoopback},
      {"type = 32\ndevice/vendor = 0x15b3", "", NetdevKind::kIpoib},
      {"type = 65534", "", NetdevKind::kTunnel},
      {"type = 776", "", NetdevKind::kTunnel},
      {"type = 1\ntun_flags = 0x1002", "", NetdevKind::kTunnel},
      {"type = 1\nwireless /\ndevice/vendor = 1", "", NetdevKind::kWireless},
      {"type = 1\nphy80211/name = phy0\ndevice/vendor = 1", "", NetdevKind::kWireless},
      {"type = 1\nbridge/x = 1", "", NetdevKind::kBridge},
      {"type = 1\nbonding/x = 1", "", NetdevKind::kBond},
      {"type = 1\nuevent = DEVTYPE=vlan", "", NetdevKind::kVlan},
      {"type = 1\nuevent <<\n| INTERFACE=x\n| DEVTYPE=vxlan", "", NetdevKind::kTunnel},
      {"type = 1\nuevent = XDEVTYPE=vlan", "", NetdevKind::kOtherVirtual},
      {"type = 1\nuevent = DEVTYPE=new\ndevice/vendor = 1", "", NetdevKind::kPhysical},
      {"type = 1", ",\"linkinfo\":{\"info_kind\":\"veth\"}", NetdevKind::kVeth},
      {"type = 1", ",\"linkinfo\":{\"info_kind\":\"macvlan\"}", NetdevKind::kMacvlan},
      {"type = 1", ",\"linkinfo\":{\"info_kind\":\"team\"}", NetdevKind::kBond},
      {"type = 1\ndevice/vendor = 1", ",\"linkinfo\":{\"info_kind\":\"new\"}", NetdevKind::kOtherVirtual},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(ReadOne(row.lines, row.ip, &notes).kind, row.kind) << row.lines << row.ip;
    EXPECT_TRUE(notes.empty()) << row.lines << ": " << notes[0].what;
  }
}

TEST(ReadNetdevsTest, RunningIsUpAndWorking) {
  const struct {
    const char* flags;
    const char* operstate;
    bool running;
  } rows[] = {
      {"0x1003", "up", true},    {"0x1", "unknown", true},     {"0x1002", "up", false},
      {"0x1003", "down", false}, {"0x1003", "dormant", false}, {"0x1003", "lowerlayerdown", false},
      {"0x1003", "", false},     {"0x1003", "testing", false}, {"0x1003", "notpresent", false},
      {"0x0", "unknown", false},
  };
  for (const auto& row : rows) {
    Capture capture;
    capture.entries["sys/class/net/x/flags"] = CaptureFile{std::string(row.flags) + "\n"};
    capture.entries["sys/class/net/x/operstate"] = CaptureFile{std::string(row.operstate) + "\n"};
    Notes notes;
    const auto got = ReadWith(CaptureTree(capture), {}, &notes);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].running, row.running) << row.flags << row.operstate;
  }
}

TEST(ReadNetdevsTest, WhatAnInterfaceLiesOn) {
  const struct {
    const char* lines;
    const char* ip;
    const char* shown;
    const char* note;
  } rows[] = {
      {"uevent = DEVTYPE=vlan\nlower_eth0 -> ../y", "", "x 9 kind4 up running on eth0", ""},
      {"lower_eth0 -> ../y", ",\"linkinfo\":{\"info_kind\":\"macvlan\"}", "x 9 kind6 up running on eth0", ""},
      {"type = 1", ",\"link\":\"eth0\",\"linkinfo\":{\"info_kind\":\"vlan\",\"info_data\":{\"id\":7}}",
       "x 9 kind4 up running on eth0 vlan7", ""},
      {"type = 1\nin proc/net/vlan\nconfig <<\n| VLAN Dev name | VLAN ID\n| x | 100 | eth1",
       ",\"linkinfo\":{\"info_kind\":\"vlan\"}", "x 9 kind4 up running on eth1 vlan100", ""},
      {"bonding/mode = 802.3ad 4", "", "x 9 kind3 up running mode 802.3ad", ""},
      {"type = 32\npkey = 0x8001\nparent = ib0", "", "x 9 kind8 up running on ib0 pkey32769", ""},
      {"type = 32", "", "x 9 kind8 up running", ""},
      // Not told, or told so that it cannot be.
      {"uevent = DEVTYPE=vlan\nlower_a -> ../y\nlower_b -> ../y", "", "x 9 kind4 up running", ""},
      {"uevent = DEVTYPE=vlan\nin proc/net/vlan\nconfig = x | 4095 | eth0", "", "x 9 kind4 up running", ""},
      {"uevent = DEVTYPE=vlan\nin proc/net/vlan\nconfig = y | 5 | eth0", "", "x 9 kind4 up running", ""},
      {"uevent = DEVTYPE=vlan\nin proc/net/vlan\nconfig ! EACCES", "", "x 9 kind4 up running", "EACCES"},
      {"type = 1\nlower_eth0 -> ../y", ",\"link\":\"eth0\",\"linkinfo\":{\"info_kind\":\"veth\"}",
       "x 9 kind5 up running", ""},
      {"type = 1", ",\"linkinfo\":{\"info_kind\":\"vlan\",\"info_data\":{\"id\":4095}}", "x 9 kind4 up running", ""},
      {"bonding/mode ! EIO", "", "x 9 kind3 up running", "EIO"},
      {"bonding/x = 1", "", "x 9 kind3 up running", ""},
      {"type = 32\npkey = none", "", "x 9 kind8 up running",
       "not a P_Key: got \"none\", expected a form such as 0xffff"},
      {"type = 32\npkey = 0x10000", "", "x 9 kind8 up running", "not a P_Key: got \"0x10000\""},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(ReadOne(row.lines, row.ip, &notes)), row.shown) << row.lines << row.ip;
    EXPECT_EQ(notes.empty() ? "" : notes[0].what.substr(0, std::string(row.note).size()), row.note) << row.lines;
  }
}

TEST(ReadNetdevsTest, CarrierOfAnInterfaceThatIsUp) {
  const struct {
    const char* lines;
    const char* shown;
  } rows[] = {
      {"carrier = 1", "x 9 kind10 up running carrier"}, {"carrier = 0\noperstate = down", "x 9 kind10 up no-carrier"},
      {"carrier = 1\nflags = 0x1002", "x 9 kind10"},    {"carrier ! EINVAL", "x 9 kind10 up running"},
      {"carrier = 2", "x 9 kind10 up running"},         {"carrier =", "x 9 kind10 up running"},
  };
  for (const auto& row : rows) {
    const std::string lines(row.lines);
    std::string text = "nccl-tune-capture 1\nin sys/class/net/x\n" + lines + "\n";
    if (lines.find("operstate") == std::string::npos) text += "operstate = up\n";
    if (lines.find("flags") == std::string::npos) text += "flags = 0x1003\n";
    text += "in .\nip-addr.json = [{\"ifname\":\"x\",\"ifindex\":9}]\n";
    Notes notes;
    const auto got = Read(CaptureTree(ParseMachine(text)), &notes);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(Show(got[0]), row.shown) << row.lines;
    EXPECT_TRUE(notes.empty()) << row.lines;
  }
}

// A dongle is a network card; a class driver for another computer is a BMC or a phone.
TEST(ReadNetdevsTest, UsbInterfaces) {
  const struct {
    const char* driver;
    const char* shown;
  } rows[] = {
      {"cdc_ether", "usb peer"}, {"rndis_host", "usb peer"}, {"cdc_ncm", "usb peer"}, {"cdc_eem", "usb peer"},
      {"r8152", "usb"},          {"ax88179_178a", "usb"},    {"cdc_ether2", "usb"},   {"rndis", "usb"},
  };
  const std::string device = "devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0";
  for (const auto& row : rows) {
    const std::string driver = std::string("bus/usb/drivers/") + row.driver;
    const std::string text = "nccl-tune-capture 1\nin sys/" + device + "\ndriver -> ../../../../../../" + driver +
                             "\nin sys\n" + driver + " /\nin sys/class/net/usb0\nifindex = 3\noperstate = up\n" +
                             "device -> ../../../" + device + "\n";
    Notes notes;
    const auto got = Read(CaptureTree(ParseMachine(text)), &notes);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(Show(got[0]), std::string("usb0 3 kind0 0000:00:14.0 ") + row.driver + " " + row.shown);
  }
}

TEST(ReadNetdevsTest, OddTextIsUnknown) {
  const struct {
    const char* lines;
    const char* shown;
    const char* note;
  } rows[] = {
      {"speed = -1", "x 9 kind10 up running", ""},
      {"speed = 0", "x 9 kind10 up running", ""},
      {"speed = fast", "x 9 kind10 up running", ""},
      {"speed ! EINVAL", "x 9 kind10 up running", ""},
      {"speed = 2500", "x 9 kind10 up running 2G", ""},
      {"mtu = big", "x 9 kind10 up running", "not a whole number: got \"big\", expected decimal digits"},
      {"mtu = ", "x 9 kind10 up running", "not a whole number: got \"\""},
      {"mtu = 99999999999", "x 9 kind10 up running", "number out of range"},
      {"mtu ! EIO", "x 9 kind10 up running", "EIO"},
      {"ifindex = x", "x 9 kind10 up running", "not a whole number"},
      {"type = x", "x 9 kind10 up running", "not a whole number"},
      {"device/numa_node = -1", "x 9 kind0 up running", ""},
      {"device/numa_node = x", "x 9 kind0 up running", "not a whole number"},
      {"master -> ../nowhere", "x 9 kind10 up running", ""},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Show(ReadOne(row.lines, "", &notes)), row.shown) << row.lines;
    EXPECT_EQ(notes.empty(), std::string(row.note).empty()) << row.lines;
    if (!notes.empty()) {
      EXPECT_TRUE(notes[0].what.starts_with(row.note)) << notes[0].what;
    }
  }
}

TEST(ReadNetdevsTest, SaysWhatSysfsAndIpDoNotShare) {
  InterfaceFacts only_ip;
  only_ip.name = "eth\n9";
  Capture capture;
  capture.entries["sys/class/net/x/operstate"] = CaptureFile{"up\n"};
  Notes notes;
  const auto got = ReadWith(CaptureTree(capture), {only_ip}, &notes);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].name, "x");
  EXPECT_TRUE(got[0].addresses.empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "sys/class/net/eth\\x0a9");
  EXPECT_EQ(notes[0].what, "absent, though it has addresses");
  Notes closed;
  const CaptureTree tree(capture);
  EXPECT_TRUE(ReadWith(SpoiltTree(tree, "sys/class/net", base::Code::kForbidden), {}, &closed).empty());
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].where, "sys/class/net");
}

}  // namespace
}  // namespace nccl_tune::hw
