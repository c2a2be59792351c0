// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/interface_order.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <fstream>
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

// "A=b & C=d"
Environment MakeEnvironment(std::string_view text) {
  constexpr std::string_view kAnd = " & ";
  Environment out;
  while (!text.empty()) {
    const std::size_t end = text.find(kAnd);
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    out[std::string(one.substr(0, equals))] = std::string(one.substr(equals + 1));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kAnd.size());
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

// A row of tests/nccl/interface_vectors.txt, which says what its columns hold.
struct Row {
  std::string releases;
  std::string interfaces;
  std::string environment;
  std::string bootstrap;  // empty: init fails
};

std::vector<Row> ReadRows() {
  std::ifstream file("tests/nccl/interface_vectors.txt");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::array<std::string, 4> columns;
    std::string_view rest = line;
    for (std::string& column : columns) {
      const std::size_t end = rest.find('|');
      column = std::string(base::Trim(rest.substr(0, end)));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    EXPECT_FALSE(columns[3].empty()) << line;
    out.push_back({columns[0], columns[1], columns[2], columns[3] == "nothing" ? "" : columns[3]});
  }
  return out;
}

// "all", "from A", "until B", "only A-B", "not A-B".
bool HoldsFor(std::string_view releases, NcclVersion version) {
  if (releases == "all") return true;
  const std::size_t blank = releases.find(' ');
  const std::string_view word = releases.substr(0, blank);
  const std::string_view range = releases.substr(blank + 1);
  const std::size_t dash = range.find('-');
  const auto first = ParseNcclVersion(range.substr(0, dash));
  const auto last = ParseNcclVersion(range.substr(dash == std::string_view::npos ? 0 : dash + 1));
  EXPECT_TRUE(first.ok() && last.ok() && blank != std::string_view::npos) << releases;
  if (word == "from") return version >= *first;
  if (word == "until") return version <= *last;
  EXPECT_TRUE(word == "only" || word == "not") << releases;
  return (version >= *first && version <= *last) == (word == "only");
}

TEST(InterfaceOrderTest, BootstrapAsTheRealOne) {
  constexpr NcclVersion kReleases[] = {{2, 18, 6}, {2, 21, 5}, {2, 25, 1}, kV227,      kV228,
                                       {2, 29, 2}, {2, 29, 7}, {2, 30, 3}, {2, 30, 7}, {2, 32, 3}};
  const std::vector<Row> rows = ReadRows();
  EXPECT_GE(rows.size(), 75u);
  for (const Row& row : rows) {
    for (const NcclVersion& version : kReleases) {
      if (!HoldsFor(row.releases, version)) continue;
      const auto got = ChooseBootstrap(MakeNode(row.interfaces), version, MakeEnvironment(row.environment));
      const std::string what = version.ToString() + " | " + row.interfaces + " | " + row.environment;
      EXPECT_EQ(Show(got), row.bootstrap) << what;
      EXPECT_FALSE(got.reason.empty()) << what;
      EXPECT_EQ(got.step == InterfaceStep::kNone, got.interfaces.empty()) << what;
    }
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
