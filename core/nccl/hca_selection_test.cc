// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/hca_selection.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"

namespace nccl_tune::nccl {
namespace {

constexpr NcclVersion kV228{2, 28, 9};

facts::IbPort MakePort(int number, facts::LinkLayer link_layer) {
  facts::IbPort port;
  port.number = number;
  port.state = facts::PortState::kActive;
  port.link_layer = link_layer;
  return port;
}

facts::Hca MakeHca(std::string name, facts::LinkLayer link_layer = facts::LinkLayer::kEthernet) {
  facts::Hca hca;
  hca.name = std::move(name);
  hca.openable = facts::Openable::kYes;
  hca.ports = {MakePort(1, link_layer)};
  return hca;
}

facts::Node MakeNode() {
  facts::Node node;
  facts::Netdev eth0;
  eth0.name = "eth0";
  eth0.admin_up = eth0.running = true;
  eth0.addresses = {{.prefix = *facts::MakePrefix(*facts::ParseIpAddress("10.0.0.5"), 24)}};
  node.netdevs = {eth0};
  node.hcas = {MakeHca("mlx5_0"), MakeHca("mlx5_2"), MakeHca("mlx5_20", facts::LinkLayer::kInfiniBand),
               MakeHca("mlx5_bond_0")};
  return node;
}

std::string Taken(const HcaSelection& selection) {
  std::string out;
  for (const JudgedPort& port : selection.Taken()) {
    out += (out.empty() ? "" : " ") + port.hca + ":" + std::to_string(port.port);
  }
  return out;
}

// A row of tests/nccl/port_vectors.txt, which says what its columns hold.
struct Row {
  std::string releases;
  Environment environment;
  std::string taken;
};

Environment MakeEnvironment(std::string_view text) {
  constexpr std::string_view kAnd = " & ";
  Environment out;
  while (!text.empty()) {
    const std::size_t end = text.find(kAnd);
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    std::string_view value = one.substr(equals + 1);
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
    out[std::string(one.substr(0, equals))] = std::string(value);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kAnd.size());
  }
  return out;
}

std::vector<Row> ReadRows() {
  std::ifstream file("tests/nccl/port_vectors.txt");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view text = line;
    const std::size_t first = text.find('|');
    const std::size_t second = text.find('|', first + 1);
    EXPECT_NE(second, std::string_view::npos) << line;
    std::string taken;
    std::istringstream names{std::string(base::Trim(text.substr(second + 1)))};
    for (std::string name; names >> name && name != "nothing";) taken += (taken.empty() ? "" : " ") + name + ":1";
    out.push_back({.releases = std::string(base::Trim(text.substr(0, first))),
                   .environment = MakeEnvironment(base::Trim(text.substr(first + 1, second - first - 1))),
                   .taken = taken});
  }
  return out;
}

// "all", "from A", "until B".
bool HoldsFor(std::string_view releases, NcclVersion version) {
  if (releases == "all") return true;
  const bool from = releases.starts_with("from ");
  EXPECT_TRUE(from || releases.starts_with("until ")) << releases;
  const auto bound = ParseNcclVersion(releases.substr(releases.find(' ') + 1));
  EXPECT_TRUE(bound.ok()) << releases;
  return bound.ok() && (from ? version >= *bound : version <= *bound);
}

TEST(HcaSelectionTest, AsTheRealOne) {
  const std::vector<Row> rows = ReadRows();
  EXPECT_GE(rows.size(), 50u);
  for (const Row& row : rows) {
    for (const NcclVersion& version : {NcclVersion{2, 18, 6}, kV228, NcclVersion{2, 30, 7}, NcclVersion{2, 32, 3}}) {
      if (!HoldsFor(row.releases, version)) continue;
      const HcaSelection got = SelectHcas(MakeNode(), version, row.environment);
      EXPECT_EQ(Taken(got), row.taken) << version.ToString() << " " << testing::PrintToString(row.environment);
      EXPECT_EQ(got.ports.size(), 4u);
    }
  }
}

TEST(HcaSelectionTest, SaysWhatIsWrongWithAPort) {
  const auto verdict = [](const facts::Hca& hca, const char* list) {
    facts::Node node = MakeNode();
    node.hcas = {hca};
    return SelectHcas(node, kV228, {{"NCCL_IB_HCA", list}}).ports.at(0).verdict;
  };
  const facts::Hca good = MakeHca("mlx5_0");
  EXPECT_EQ(verdict(good, ""), PortVerdict::kTaken);
  EXPECT_EQ(verdict(good, "=mlx5_2"), PortVerdict::kNotInList);
  for (const auto openable : {facts::Openable::kNo, facts::Openable::kMissing}) {
    facts::Hca hca = good;
    hca.openable = openable;
    EXPECT_EQ(verdict(hca, ""), PortVerdict::kCannotOpen);
  }
  facts::Hca unknown = good;
  unknown.openable = facts::Openable::kUnknown;
  EXPECT_EQ(verdict(unknown, ""), PortVerdict::kTaken);
  using State = facts::PortState;
  for (const State state : {State::kDown, State::kInit, State::kArmed, State::kActiveDefer, State::kOther}) {
    facts::Hca hca = good;
    hca.ports[0].state = state;
    EXPECT_EQ(verdict(hca, ""), PortVerdict::kNotActive);
  }
  facts::Hca unread = good;
  unread.ports[0].state = std::nullopt;
  EXPECT_EQ(verdict(unread, ""), PortVerdict::kNotActive);
  EXPECT_EQ(verdict(MakeHca("efa_0", facts::LinkLayer::kOther), ""), PortVerdict::kOtherLinkLayer);
  facts::Hca no_link = good;
  no_link.ports[0].link_layer = std::nullopt;
  EXPECT_EQ(verdict(no_link, ""), PortVerdict::kOtherLinkLayer);
}

TEST(HcaSelectionTest, TransportOff) {
  const std::string no_interface = "it needs an IP interface for its exchange: ";
  const struct {
    Environment environment;
    std::string why;
  } rows[] = {
      {{{"NCCL_IB_DISABLE", "0"}}, ""},
      {{{"NCCL_IB_DISABLE", ""}}, ""},
      {{{"NCCL_IB_DISABLE", "yes"}}, ""},
      {{{"NCCL_IB_DISABLE", "false"}}, ""},
      {{{"NCCL_IB_DISABLE", "1"}}, "NCCL_IB_DISABLE turns it off"},
      {{{"NCCL_IB_DISABLE", "2"}}, "NCCL_IB_DISABLE turns it off"},
      {{{"NCCL_NET", "IB"}}, ""},
      {{{"NCCL_NET", "ib"}}, ""},
      {{{"NCCL_NET", "Socket"}}, "NCCL_NET names another transport"},
      {{{"NCCL_NET", "IBext"}}, "NCCL_NET names another transport"},
      {{{"NCCL_NET", "IB "}}, "NCCL_NET names another transport"},
      {{{"NCCL_SOCKET_IFNAME", "=eth9"}},
       no_interface + "nothing matches NCCL_SOCKET_IFNAME, and there is no fallback"},
      {{{"NCCL_SOCKET_FAMILY", "AF_INET6"}}, no_interface + "no interface has a usable address"},
  };
  for (const auto& row : rows) {
    const HcaSelection got = SelectHcas(MakeNode(), kV228, row.environment);
    EXPECT_EQ(got.transport_off, row.why);
    EXPECT_EQ(got.Taken().empty(), !row.why.empty());
    EXPECT_EQ(got.ports.size(), 4u);
  }
}

TEST(HcaSelectionTest, AtMostThirtyTwo) {
  facts::Node node = MakeNode();
  node.hcas.clear();
  for (int i = 0; i < 34; ++i) node.hcas.push_back(MakeHca("mlx5_" + std::to_string(i)));
  node.hcas[0].ports[0].state = facts::PortState::kDown;
  const HcaSelection got = SelectHcas(node, kV228, {});
  EXPECT_EQ(got.Taken().size(), 32u);
  EXPECT_EQ(got.ports[32].verdict, PortVerdict::kTaken);
  EXPECT_EQ(got.ports[33].verdict, PortVerdict::kTooMany);
}

TEST(HcaSelectionTest, OfMoreThanThirtyTwoTheFirstInItsOrder) {
  // The bond has the lowest PCI address, and was registered last.
  facts::Node node = MakeNode();
  node.hcas = {MakeHca("mlx5_bond_0")};
  node.hcas[0].uverbs = "uverbs32";
  for (int i = 0; i < 32; ++i) {
    node.hcas.push_back(MakeHca("mlx5_" + std::to_string(i)));
    node.hcas.back().uverbs = "uverbs" + std::to_string(i);
  }
  for (const NcclVersion& version : {NcclVersion{2, 18, 6}, kV228, NcclVersion{2, 29, 7}, NcclVersion{2, 32, 3}}) {
    const HcaSelection got = SelectHcas(node, version, {});
    EXPECT_EQ(got.Taken().size(), 32u) << version.ToString();
    EXPECT_EQ(got.ports[0].verdict, PortVerdict::kTooMany) << version.ToString();
  }
  // Without a number it is the last one too, whatever stands there.
  for (const char* odd : {"", "uverbs", "uverbsx", "uverbs-1", "issm0"}) {
    node.hcas[0].uverbs = odd;
    EXPECT_EQ(SelectHcas(node, kV228, {}).ports[0].verdict, PortVerdict::kTooMany) << odd;
  }
}

TEST(HcaSelectionTest, SeveralPortsAndExplanations) {
  facts::Node node = MakeNode();
  node.hcas.resize(1);
  node.hcas[0].ports.push_back(MakePort(2, facts::LinkLayer::kInfiniBand));
  EXPECT_EQ(Taken(SelectHcas(node, kV228, {{"NCCL_IB_HCA", "=mlx5_0:2"}})), "mlx5_0:2");
  EXPECT_EQ(Taken(SelectHcas(node, kV228, {})), "mlx5_0:1 mlx5_0:2");
  EXPECT_EQ(Explain(PortVerdict::kNotActive), "its port is not active");
  for (int i = 0; i <= static_cast<int>(PortVerdict::kTooMany); ++i) {
    EXPECT_FALSE(Explain(static_cast<PortVerdict>(i)).empty());
  }
}

}  // namespace
}  // namespace nccl_tune::nccl
