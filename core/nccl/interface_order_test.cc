// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/interface_order.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_number.h"

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kV227{2, 27, 7};
constexpr NcclVersion kV228{2, 28, 9};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (const auto part = base::Trim(text.substr(0, end)); !part.empty()) out.push_back(part);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

facts::Netdev MakeNetdev(std::string_view text, int ifindex) {
  facts::Netdev netdev;
  netdev.ifindex = ifindex;
  netdev.admin_up = netdev.running = true;
  for (const std::string_view word : Split(text, ' ')) {
    const std::size_t slash = word.find('/');
    if (word == "DOWN") netdev.admin_up = false;
    if (word == "DOWN" || word == "NOCARRIER") netdev.running = false;
    if (netdev.name.empty()) netdev.name = std::string(word);
    if (slash == std::string_view::npos) continue;
    const auto address = facts::ParseIpAddress(word.substr(0, slash));
    const auto length = base::ParseInteger<int>(word.substr(slash + 1));
    netdev.addresses.push_back({.prefix = *facts::MakePrefix(*address, *length), .link_scope = address->IsLinkLocal()});
  }
  return netdev;
}

// "lo 127.0.0.1/8 ::1/128; eth0 NOCARRIER 10.0.0.5/24": interfaces in the order of their index.
facts::Node MakeNode(std::string_view text) {
  facts::Node node;
  for (const std::string_view one : Split(text, ';')) {
    node.netdevs.push_back(MakeNetdev(one, static_cast<int>(node.netdevs.size()) + 1));
  }
  return node;
}

// "A=b|C=d"
Environment MakeEnvironment(std::string_view text) {
  Environment out;
  for (const std::string_view one : Split(text, '|')) {
    const std::size_t equals = one.find('=');
    out[std::string(one.substr(0, equals))] = std::string(one.substr(equals + 1));
  }
  return out;
}

std::string Show(const InterfaceOrder& order) {
  std::string out;
  for (const TakenInterface& taken : order.interfaces) {
    out += (out.empty() ? "" : "; ") + taken.name + " " + taken.address.ToString();
  }
  return out;
}

struct Row {
  const char* interfaces;
  const char* environment;
  const char* bootstrap;  // empty: init fails
};

// ALL rows were confirmed by NCCL 2.28.9 (cuda13.0): ncclGetUniqueId in a fresh network namespace with these interfaces
// (kernel 6.18), from its line "Bootstrap: Using".
constexpr Row kConfirmed[] = {
    // Defaults, step by step.
    {"lo 127.0.0.1/8 ::1/128; eth0 10.0.0.5/24", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth1 10.0.1.5/24; eth0 10.0.0.5/24", "", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; ib0 10.9.0.5/24", "", "ib0 10.9.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; ibmc0 169.254.3.1/24", "", "ibmc0 169.254.3.1"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; ibp3s0 10.9.0.5/24; ib0 10.8.0.5/24", "", "ibp3s0 10.9.0.5"},
    {"lo 127.0.0.1/8; docker0 172.17.0.1/16; eth0 10.0.0.5/24", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; docker0 172.17.0.1/16; virbr0 192.168.122.1/24", "", "docker0 172.17.0.1"},
    {"lo 127.0.0.1/8; virbr0 192.168.122.1/24", "", "lo 127.0.0.1"},
    {"lo ::1/128; virbr0 192.168.122.1/24", "", "virbr0 192.168.122.1"},
    {"lo 127.0.0.1/8; virbr0 192.168.122.1/24; eth0 10.0.0.5/24", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8 ::1/128", "", "lo 127.0.0.1"},
    {"lo ::1/128", "", ""},
    {"lo 127.0.0.1/8; lom1 10.0.0.5/24", "", "lo 127.0.0.1"},
    {"lo 127.0.0.1/8; lom1 10.0.0.5/24; usb0 169.254.9.1/24", "", "usb0 169.254.9.1"},
    {"lo 127.0.0.1/8; br-4f1 172.18.0.1/16; eth0 10.0.0.5/24", "", "br-4f1 172.18.0.1"},
    {"lo 127.0.0.1/8; cni0 10.244.0.1/24; eth0 10.0.0.5/24", "", "cni0 10.244.0.1"},
    {"lo 127.0.0.1/8; tailscale0 100.64.0.9/32; eth0 10.0.0.5/24", "", "tailscale0 100.64.0.9"},
    // Running, and addresses.
    {"lo 127.0.0.1/8; eth0 NOCARRIER 10.0.0.5/24; eth1 10.0.1.5/24", "", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 DOWN 10.0.0.5/24; eth1 10.0.1.5/24", "", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; ib0 NOCARRIER 10.9.0.5/24; eth0 10.0.0.5/24", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0; eth1 10.0.1.5/24", "", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24 10.0.0.6/24 2001:db8::5/64", "", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 2001:db8::5/64; docker0 172.17.0.1/16", "", "eth0 2001:db8::5"},
    {"lo 127.0.0.1/8; eth0 2001:db8::5/64; eth1 10.0.1.5/24", "", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 fe80::5/64", "", "eth0 fe80::5"},
    // NCCL_SOCKET_FAMILY.
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 2001:db8::5/64", "NCCL_SOCKET_FAMILY=AF_INET6", "eth1 2001:db8::5"},
    {"lo 127.0.0.1/8; eth0 2001:db8::5/64", "NCCL_SOCKET_FAMILY=AF_INET", "lo 127.0.0.1"},
    {"lo 127.0.0.1/8 ::1/128; eth0 10.0.0.5/24", "NCCL_SOCKET_FAMILY=AF_INET6", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24 2001:db8::5/64", "NCCL_SOCKET_FAMILY=inet6", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24 2001:db8::5/64", "NCCL_SOCKET_IFNAME==eth0|NCCL_SOCKET_FAMILY=AF_INET6",
     "eth0 2001:db8::5"},
    // NCCL_SOCKET_IFNAME: find or fail.
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth1", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth10 10.0.10.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME=eth1", "eth10 10.0.10.5"},
    {"lo 127.0.0.1/8; eth10 10.0.10.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth1", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME=eth1,eth0", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; docker0 172.17.0.1/16; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=^docker0", "lo 127.0.0.1"},
    {"lo 127.0.0.1/8; docker0 172.17.0.1/16; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=^lo,docker", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME=^=lo,=eth0", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME=^=lo,eth0", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth9,=eth1", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth9, eth1", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME==eth9", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME==^eth0", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=eth0:1", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=^", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=l", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=", "eth0 10.0.0.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME=^=", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME==,", "lo 127.0.0.1"},
    {"lo 127.0.0.1/8; eth0 NOCARRIER 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth0", ""},
    {"lo 127.0.0.1/8; eth0; eth1 10.0.1.5/24", "NCCL_SOCKET_IFNAME==eth0", ""},
    {"lo 127.0.0.1/8; a0 10.1.0.1/24; a1 10.1.1.1/24",
     "NCCL_SOCKET_IFNAME==b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,c0,c1,c2,c3,c4,c5,a1", ""},
    {"lo 127.0.0.1/8; a0 10.1.0.1/24; a1 10.1.1.1/24",
     "NCCL_SOCKET_IFNAME==b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,c0,c1,c2,c3,c4,a1", "a1 10.1.1.1"},
    // NCCL_COMM_ID goes before all of it.
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_COMM_ID=10.0.1.9:4000", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; ib0 10.9.0.5/24; eth1 10.0.1.5/24", "NCCL_COMM_ID=10.0.1.9:4000", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24", "NCCL_COMM_ID=10.0.1.9:4000|NCCL_SOCKET_IFNAME==eth0",
     "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 NOCARRIER 10.0.1.5/24", "NCCL_COMM_ID=10.0.1.9:4000", "eth1 10.0.1.5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_COMM_ID=10.7.1.9:4000", ""},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 2001:db8:1::5/64", "NCCL_COMM_ID=[2001:db8:1::9]:4000",
     "eth1 2001:db8:1::5"},
    {"lo 127.0.0.1/8; eth0 10.0.0.5/24", "NCCL_COMM_ID=", ""},
};

TEST(InterfaceOrderTest, BootstrapAsTheRealOne) {
  for (const Row& row : kConfirmed) {
    const InterfaceOrder got = ChooseBootstrap(MakeNode(row.interfaces), kV228, MakeEnvironment(row.environment));
    EXPECT_EQ(Show(got), row.bootstrap) << row.interfaces << " | " << row.environment;
    EXPECT_FALSE(got.reason.empty()) << row.interfaces;
    EXPECT_EQ(got.step == InterfaceStep::kNone, got.interfaces.empty()) << row.interfaces;
  }
}

TEST(InterfaceOrderTest, BeforeVersion228) {
  const Row rows[] = {
      {"lo 127.0.0.1/8; eth0 NOCARRIER 10.0.0.5/24; eth1 10.0.1.5/24", "", "eth0 10.0.0.5"},
      {"lo 127.0.0.1/8; ib0 DOWN 10.9.0.5/24; eth1 10.0.1.5/24", "", "ib0 10.9.0.5"},
      {"lo 127.0.0.1/8; virbr0 192.168.122.1/24; eth0 10.0.0.5/24", "", "virbr0 192.168.122.1"},
      {"lo 127.0.0.1/8; docker0 172.17.0.1/16; virbr0 NOCARRIER 192.168.122.1/24", "", "virbr0 192.168.122.1"},
      {"lo 127.0.0.1/8; eth0 DOWN 10.0.0.5/24", "NCCL_SOCKET_IFNAME==eth0", "eth0 10.0.0.5"},
  };
  for (const Row& row : rows) {
    const auto environment = MakeEnvironment(row.environment);
    EXPECT_EQ(Show(ChooseBootstrap(MakeNode(row.interfaces), kV227, environment)), row.bootstrap) << row.interfaces;
  }
}

TEST(InterfaceOrderTest, SocketTransportTakesAllOfTheStep) {
  const facts::Node node = MakeNode(
      "lo 127.0.0.1/8; eth0 2001:db8::5/64; eth1 10.0.1.5/24 10.0.1.6/24 fe80::1/64; docker0 172.17.0.1/16; wlan0 "
      "10.3.0.5/24");
  const InterfaceOrder all = OrderInterfaces(node, kV228, {});
  EXPECT_EQ(Show(all), "eth1 10.0.1.5; wlan0 10.3.0.5; eth0 2001:db8::5");
  EXPECT_EQ(all.step, InterfaceStep::kOrdinary);
  EXPECT_EQ(Show(ChooseBootstrap(node, kV228, {})), "eth1 10.0.1.5");
  const InterfaceOrder named = OrderInterfaces(node, kV228, {{"NCCL_SOCKET_IFNAME", "wlan0,eth"}});
  EXPECT_EQ(Show(named), "eth1 10.0.1.5; wlan0 10.3.0.5; eth0 2001:db8::5");
  EXPECT_EQ(named.step, InterfaceStep::kNamed);
}

TEST(InterfaceOrderTest, AtMostSixteen) {
  facts::Node node;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    node.netdevs.push_back(MakeNetdev("eth" + number + " 10.0." + number + ".5/24", i + 1));
  }
  EXPECT_EQ(OrderInterfaces(node, kV228, {}).interfaces.size(), 16u);
}

TEST(InterfaceOrderTest, CommIdIsAHintForTheTransports) {
  const facts::Node node = MakeNode("lo 127.0.0.1/8; eth0 10.0.0.5/24; eth1 10.0.1.5/24");
  EXPECT_EQ(Show(OrderInterfaces(node, kV228, {{"NCCL_COMM_ID", "10.0.1.9:4000"}})), "eth1 10.0.1.5");
  EXPECT_EQ(Show(OrderInterfaces(node, kV228, {{"NCCL_COMM_ID", "10.7.1.9:4000"}})), "eth0 10.0.0.5; eth1 10.0.1.5");
  const InterfaceOrder named = ChooseBootstrap(node, kV228, {{"NCCL_COMM_ID", "head-node:4000"}});
  EXPECT_EQ(named.step, InterfaceStep::kUnresolved);
  EXPECT_TRUE(named.interfaces.empty());
  // 2.29.2 to 2.29.7: the test is the wrong way round.
  const Environment comm_id = {{"NCCL_COMM_ID", "10.0.1.9:4000"}};
  EXPECT_EQ(Show(ChooseBootstrap(node, {2, 29, 7}, comm_id)), "lo 127.0.0.1");
  EXPECT_EQ(Show(ChooseBootstrap(node, {2, 30, 3}, comm_id)), "eth1 10.0.1.5");
}

TEST(InterfaceOrderTest, SaysWhyThereIsNone) {
  const struct {
    const char* interfaces;
    const char* environment;
    const char* reason;
  } rows[] = {
      {"", "", "no interface has a usable address"},
      {"eth0", "", "no interface has a usable address"},
      {"eth0 DOWN 10.0.0.5/24", "", "no interface has a usable address"},
      {"eth0 10.0.0.5/24", "NCCL_SOCKET_IFNAME==eth1", "nothing matches NCCL_SOCKET_IFNAME, and there is no fallback"},
      {"eth0 10.0.0.5/24", "NCCL_COMM_ID=10.1.0.1:1", "no interface shares a subnet with the address in NCCL_COMM_ID"},
      {"eth0 10.0.0.5/24", "NCCL_COMM_ID=", "NCCL_COMM_ID holds no address"},
      {"eth0 10.0.0.5/24", "NCCL_COMM_ID=head:1", "NCCL_COMM_ID names a host, not an address"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ChooseBootstrap(MakeNode(row.interfaces), kV228, MakeEnvironment(row.environment)).reason, row.reason);
  }
}

}  // namespace
}  // namespace nccl_tune::nccl
