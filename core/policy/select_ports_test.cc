// SPDX-License-Identifier: Apache-2.0
#include "core/policy/select_ports.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

using facts::Openable;
using facts::PortState;

TEST(SelectPortsTest, OneGoodPort) {
  const facts::Node node = MakeServer();
  const auto got = SelectPorts(node);
  EXPECT_EQ(Names(got), "mlx5_2:1");
  EXPECT_EQ(got.reason, "every port is usable: 1 x 25 Gb/s RoCE");
  ASSERT_EQ(got.ports[0].gid->index, 3);
  EXPECT_FALSE(got.has_trap);
  EXPECT_FALSE(got.needs_plugin);
}

// One thing wrong with the server's only port.
TEST(SelectPortsTest, WhyAPortCannotCarryTraffic) {
  using Change = std::function<void(facts::Hca*)>;
  const auto state = [](std::optional<PortState> s) { return Change([s](facts::Hca* h) { h->ports[0].state = s; }); };
  const struct {
    Change change;
    const char* why;
    bool trap;  // NCCL would take it
  } rows[] = {
      {state(PortState::kDown), "port is DOWN", false},
      {state(PortState::kInit), "port is INIT", false},
      {state(PortState::kArmed), "port is ARMED", false},
      {state(PortState::kActiveDefer), "port is ACTIVE_DEFER", false},
      {state(PortState::kOther), "port is unknown", false},
      {state(std::nullopt), "port is unreadable", false},
      {[](facts::Hca* h) { h->is_software = true; }, "software device: slower than plain sockets", true},
      {[](facts::Hca* h) { h->node_type = facts::NodeType::kRnic; },
       "iWARP adapter: NCCL addresses peers by LID or GID, which it has not", true},
      {[](facts::Hca* h) { h->ports[0].link_layer = std::nullopt; }, "its link layer cannot be read", false},
      {[](facts::Hca* h) { h->ports[0].link_layer = facts::LinkLayer::kOther; },
       "link layer is neither InfiniBand nor Ethernet", false},
      {[](facts::Hca* h) { h->openable = Openable::kMissing; }, "no /dev/infiniband node: verbs cannot open it", false},
      {[](facts::Hca* h) { h->openable = Openable::kNo; }, "/dev/infiniband/uverbs0 may not be opened", false},
      {[](facts::Hca* h) { h->ports[0].gids.clear(); }, "its GID table is empty in this network namespace", true},
      {[](facts::Hca* h) { h->ports[0].gids.resize(2); },
       "it has link-local GIDs only, which do not leave the link: its interface has no address", true},
      {[](facts::Hca* h) {
         h->ports[0].gids.resize(2);
         h->ports[0].gids_in_doubt = true;
       },
       "its GID table could not be read in full", false},
      {[](facts::Hca* h) {
         for (auto& gid : h->ports[0].gids) gid.netdev = "pod7";
       },
       "its routable GIDs belong to another network namespace", true},
      {[](facts::Hca* h) {
         *h = MakeIb("mlx5_2", "0000:03:00.1", 100);
         h->ports[0].lid = 0;
       },
       "no subnet manager has set it up (lid is 0)", true},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    row.change(&node.hcas[0]);
    const auto got = SelectPorts(node);
    EXPECT_EQ(Names(got), "") << row.why;
    EXPECT_EQ(Show(got.rejected), std::string("mlx5_2:1: ") + row.why);
    EXPECT_EQ(got.has_trap, row.trap) << row.why;
    EXPECT_EQ(got.reason, "no RDMA port here can carry NCCL's traffic");
  }
}

TEST(SelectPortsTest, UnknownIsNoReasonAgainstAPort) {
  facts::Node node = MakeServer();
  node.hcas[0].openable = Openable::kUnknown;
  node.hcas[0].ports[0].rate = std::nullopt;
  node.hcas[0].pci = std::nullopt;
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_2:1");
  node.hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)};
  node.hcas[0].ports[0].lid = node.hcas[0].ports[0].sm_lid = std::nullopt;
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_0:1");
}

struct Case {
  const char* what;
  facts::Node node;
  const char* ports;
  const char* rejected;
  const char* reason;
};

// The server's node with these devices; interfaces ensN with 172.20.N.1 for N = 0..3 and eno1, which is the front end.
facts::Node With(std::vector<facts::Hca> hcas) {
  facts::Node node = MakeServer();
  for (const char* n : {"0", "1", "2", "3"}) {
    node.netdevs.push_back(MakeNetdev(std::string("ens") + n, std::string("172.20.") + n + ".1"));
  }
  node.hcas = std::move(hcas);
  return node;
}

facts::Hca Rail(const std::string& n, double gbps) {
  return MakeRoce("roce_" + n, "0000:0" + n + ":00.0", gbps, "ens" + n, "172.20." + n + ".1");
}

facts::Hca FrontEnd(double gbps) { return MakeRoce("roce_9", "0000:09:00.0", gbps, "eno1", "10.0.0.11"); }

TEST(SelectPortsTest, RailsOfOneLayerAndOneRate) {
  facts::Hca down = Rail("1", 200);
  down.ports[0].state = PortState::kDown;
  facts::Hca rxe = Rail("3", 2.5);
  rxe.is_software = true;
  const Case cases[] = {
      {"two rails", With({Rail("0", 200), Rail("1", 200)}), "roce_0:1 roce_1:1", "",
       "every port is usable: 2 x 200 Gb/s RoCE"},
      {"one unplugged", With({Rail("0", 200), down}), "roce_0:1", "roce_1:1: port is DOWN",
       "the only usable port: 1 x 200 Gb/s RoCE"},
      {"slower management port", With({Rail("0", 200), Rail("1", 25)}), "roce_0:1",
       "roce_1:1: 25 Gb/s: not a rail beside 1 x 200 Gb/s RoCE", "the rails: 1 x 200 Gb/s RoCE"},
      {"front end of equal rate", With({Rail("0", 100), FrontEnd(100)}), "roce_0:1",
       "roce_9:1: eno1 carries the node's own address, and other ports are at least as fast",
       "the rails: 1 x 100 Gb/s RoCE"},
      {"front end alone", With({FrontEnd(25)}), "roce_9:1", "", "every port is usable: 1 x 25 Gb/s RoCE"},
      {"front end faster than the rest", With({Rail("0", 10), FrontEnd(100)}), "roce_9:1",
       "roce_0:1: 10 Gb/s: not a rail beside 1 x 100 Gb/s RoCE", "the rails: 1 x 100 Gb/s RoCE"},
      {"mixed, InfiniBand carries more",
       With({MakeIb("ib0", "0000:01:00.0", 200), MakeIb("ib1", "0000:02:00.0", 200), Rail("0", 100)}), "ib0:1 ib1:1",
       "roce_0:1: link layers must not be mixed, and 2 x 200 Gb/s InfiniBand carry more",
       "the rails: 2 x 200 Gb/s InfiniBand"},
      {"mixed, Ethernet carries more", With({MakeIb("ib0", "0000:01:00.0", 100), Rail("0", 100), Rail("1", 100)}),
       "roce_0:1 roce_1:1", "ib0:1: link layers must not be mixed, and 2 x 100 Gb/s RoCE carry more",
       "the rails: 2 x 100 Gb/s RoCE"},
      {"mixed, equal", With({Rail("0", 100), MakeIb("ib0", "0000:01:00.0", 100)}), "ib0:1",
       "roce_0:1: link layers must not be mixed, and 1 x 100 Gb/s InfiniBand carry more",
       "the rails: 1 x 100 Gb/s InfiniBand"},
      {"many slow against one fast",
       With({Rail("0", 100), Rail("1", 100), Rail("2", 100), MakeIb("ib0", "0000:01:00.0", 200)}),
       "roce_0:1 roce_1:1 roce_2:1", "ib0:1: link layers must not be mixed, and 3 x 100 Gb/s RoCE carry more",
       "the rails: 3 x 100 Gb/s RoCE"},
      {"a software device beside", With({Rail("0", 100), rxe}), "roce_0:1",
       "roce_3:1: software device: slower than plain sockets", "the only usable port: 1 x 100 Gb/s RoCE"},
      {"no device", With({}), "", "", "this node has no RDMA device"},
  };
  for (const Case& c : cases) {
    const auto got = SelectPorts(c.node);
    EXPECT_EQ(Names(got), c.ports) << c.what;
    EXPECT_EQ(Show(got.rejected), c.rejected) << c.what;
    EXPECT_EQ(got.reason, c.reason) << c.what;
  }
}

TEST(SelectPortsTest, TheDefaultRouteShowsTheFrontEndToo) {
  facts::Node node = With({Rail("0", 100), FrontEnd(100)});
  node.address = std::nullopt;
  EXPECT_EQ(Show(SelectPorts(node).rejected),
            "roce_9:1: eno1 carries the default route, and other ports are at least as fast");
  node.routes.clear();
  EXPECT_EQ(Names(SelectPorts(node)), "roce_0:1 roce_9:1");
}

TEST(SelectPortsTest, EfaNeedsItsPlugin) {
  facts::Hca efa = MakeHca("rdmap0s6", "0000:00:06.0", facts::LinkLayer::kOther, 100);
  efa.driver = "efa";
  efa.node_type = facts::NodeType::kOther;
  facts::Node node = With({efa});
  const auto got = SelectPorts(node);
  EXPECT_TRUE(got.needs_plugin);
  EXPECT_FALSE(got.has_trap);
  EXPECT_EQ(Names(got), "");
}

TEST(SelectPortsTest, TheSameFactsGiveTheSamePorts) {
  const facts::Node node = With({Rail("1", 100), Rail("0", 100), FrontEnd(100), MakeIb("ib0", "0000:01:00.0", 100)});
  const auto a = SelectPorts(node);
  const auto b = SelectPorts(node);
  EXPECT_EQ(Names(a), Names(b));
  EXPECT_EQ(Show(a.rejected), Show(b.rejected));
  EXPECT_EQ(a.reason, b.reason);
}

// Every port is the front end, and no rate can be read: none is slower than the others.
TEST(SelectPortsTest, KeepsTheFrontEndWhereThereIsNothingElse) {
  for (const bool rates : {true, false}) {
    facts::Node node = MakeServer();
    node.netdevs.push_back(MakeNetdev("ens12", "10.0.0.11"));
    node.hcas.push_back(MakeRoce("mlx5_3", "0000:04:00.0", 25, "ens12", "172.21.0.11"));
    node.netdevs.back().addresses.push_back({.prefix = {.address = Address("172.21.0.11"), .length = 24}});
    node.routes = {DefaultRoute("ens5f1")};
    for (auto& hca : node.hcas) {
      if (!rates) hca.ports[0].rate = std::nullopt;
    }
    EXPECT_EQ(Names(SelectPorts(node)), "mlx5_2:1 mlx5_3:1") << rates;
  }
}

SitePolicy Site(std::vector<DeviceMatcher> include, std::vector<DeviceMatcher> exclude) {
  SitePolicy site;
  if (!include.empty()) site.include_devices = std::move(include);
  if (!exclude.empty()) site.exclude_devices = std::move(exclude);
  return site;
}

DeviceMatcher Named(const char* glob) {
  DeviceMatcher out;
  out.name = glob;
  out.origin = {.key = "devices.exclude[1]", .line = 2};
  return out;
}

TEST(SelectPortsTest, TheSiteNarrows) {
  facts::Node node = MakeServer();  // mlx5_2 at 25 Gb/s
  node.netdevs.push_back(MakeNetdev("ens12", "172.21.0.11"));
  node.hcas.push_back(MakeRoce("mlx5_3", "0000:04:00.0", 100, "ens12", "172.21.0.11"));
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_3:1");
  const auto without = SelectPorts(node, Site({}, {Named("mlx5_3")}));
  EXPECT_EQ(Names(without), "mlx5_2:1");
  EXPECT_EQ(Show(without.rejected), "mlx5_3:1: left out by the site policy, line 2: devices.exclude[1]");
  const auto both = SelectPorts(node, Site({Named("mlx5_*")}, {}));
  EXPECT_EQ(Names(both), "mlx5_2:1 mlx5_3:1") << "rates that the site puts together";
  EXPECT_TRUE(both.reason.starts_with("the site's policy lists them: ")) << both.reason;
  const auto none = SelectPorts(node, Site({}, {Named("*")}));
  EXPECT_EQ(Names(none), "");
  EXPECT_TRUE(none.has_trap && none.has_left_out) << "NCCL would take what the site leaves out";
  EXPECT_FALSE(SelectPorts(node).has_left_out);
  node.routes = {DefaultRoute("ens12")};
  EXPECT_EQ(Names(SelectPorts(node, Site({Named("mlx5_3:1")}, {}))), "mlx5_3:1") << "also with the default route";
  node.hcas[1].ports[0].state = facts::PortState::kDown;
  EXPECT_EQ(Names(SelectPorts(node, Site({Named("mlx5_3")}, {}))), "") << "a dead port stays dead";
}

TEST(SelectPortsTest, ACableOfItsOwnIsNoFabricBesideOne) {
  facts::Node node = MakeServer();
  node.netdevs.push_back(MakeNetdev("ens12", "169.254.7.1", 16));
  node.hcas.push_back(MakeRoce("mlx5_3", "0000:04:00.0", 25, "ens12", "169.254.7.1"));
  const auto both = SelectPorts(node);
  EXPECT_EQ(Names(both), "mlx5_2:1");
  EXPECT_EQ(Show(both.rejected), "mlx5_3:1: it has a 169.254 address only, and other ports have routable ones");
  node.hcas.erase(node.hcas.begin());
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_3:1") << "the only way there is";
  node.hcas[0].ports[0].gids.resize(3);
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_3:1") << "RoCE v1, which old cards have alone";
}

TEST(SelectPortsTest, AnActiveInfiniBandPortNeedsNoAnsweringManager) {
  facts::Node node = MakeServer();
  node.hcas = {MakeIb("mlx5_0", "0000:01:00.0", 200)};
  node.hcas[0].ports[0].sm_lid = 0;
  EXPECT_EQ(Names(SelectPorts(node)), "mlx5_0:1");
}

facts::Node MakeEightRails() {
  facts::Node node;
  node.gpus.resize(8);
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    node.netdevs.push_back(MakeNetdev("rail" + n, "172.20." + n + ".11"));
    node.hcas.push_back(MakeRoce("mlx5_" + n, "0000:0" + n + ":00.0", 400, "rail" + n, "172.20." + n + ".11"));
  }
  return node;
}

TEST(SelectPortsTest, EightRailsForEightGpus) {
  facts::Node node = MakeEightRails();
  node.address = Address("172.20.0.11");
  EXPECT_EQ(SelectPorts(node).ports.size(), 8u) << "the first rail carries the node's own traffic as well";
  node.address = std::nullopt;
  node.hcas[3].ports[0].rate = facts::GbitPerSecond{200};
  EXPECT_EQ(SelectPorts(node).ports.size(), 8u) << "one has trained down";
  node.hcas[4].ports[0].rate = facts::GbitPerSecond{200};
  EXPECT_EQ(SelectPorts(node).ports.size(), 6u) << "two of another rate are another kind";
}

TEST(SelectPortsTest, ARateThatIsNotKnownIsSaid) {
  facts::Node node = MakeServer();
  node.hcas[0].ports[0].rate = std::nullopt;
  EXPECT_EQ(SelectPorts(node).reason, "every port is usable: 1 x RoCE of unknown rate");
}

}  // namespace
}  // namespace nccl_tune::policy
