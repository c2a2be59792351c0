// SPDX-License-Identifier: Apache-2.0
#include "core/policy/lossless_class.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/policy/situation.h"
#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

// Two rails, each with PFC on priority 3 and DSCP 26 for it.
facts::Node MakeLossless() {
  facts::Node node = MakeServer();
  node.hcas.push_back(MakeRoce("mlx5_3", "0000:04:00.0", 25, "ens12", "172.21.0.11"));
  node.netdevs.push_back(MakeNetdev("ens12", "172.21.0.11"));
  for (auto& netdev : node.netdevs) {
    if (!netdev.name.starts_with("ens")) continue;
    netdev.dcb.emplace();
    netdev.dcb->pfc = 1 << 3;
    netdev.dcb->dscp = {{.dscp = 26, .priority = 3}, {.dscp = 48, .priority = 6}};
  }
  return node;
}

facts::Netdev& At(facts::Node* node, const std::string& name) {
  for (auto& netdev : node->netdevs) {
    if (netdev.name == name) return netdev;
  }
  ADD_FAILURE() << name;
  return node->netdevs.front();
}

facts::Dcb& First(facts::Node* node) { return *At(node, "ens5f1").dcb; }
facts::Dcb& Second(facts::Node* node) { return *At(node, "ens12").dcb; }

using Change = std::function<void(facts::Node*)>;

void ForBoth(facts::Node* node, const std::function<void(facts::Dcb*)>& change) {
  change(&First(node));
  change(&Second(node));
}

LosslessClass Find(const facts::Node& node) { return FindLosslessClass(node, Assess(node).selection.ports); }

// A card whose port is a bond of two interfaces.
void MakeBond(facts::Node* node) {
  node->netdevs.push_back(MakeNetdev("bond0", "172.22.0.11", 24, facts::NetdevKind::kBond));
  node->netdevs.back().members = {"ens5f1", "ens12"};
  node->hcas = {MakeRoce("mlx5_bond_0", "0000:03:00.0", 25, "bond0", "172.22.0.11")};
}

TEST(LosslessClassTest, Proved) {
  const struct {
    const char* what;
    Change change;
    int dscp;
    const char* priority;
  } rows[] = {
      {"two rails", [](facts::Node*) {}, 26, "priority 3,"},
      {"OFED trusts the DSCP", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->trust = "dscp"; }); }, 26,
       "priority 3,"},
      {"one says so", [](facts::Node* n) { First(n).trust = "dscp"; }, 26, "priority 3,"},
      {"another class",
       [](facts::Node* n) {
         ForBoth(n, [](facts::Dcb* d) {
           d->pfc = 1 << 5;
           d->dscp = {{.dscp = 46, .priority = 5}};
         });
       },
       46, "priority 5,"},
      {"the last of each",
       [](facts::Node* n) {
         ForBoth(n, [](facts::Dcb* d) {
           d->pfc = 1 << 7;
           d->dscp = {{.dscp = 63, .priority = 7}};
         });
       },
       63, "priority 7,"},
      {"a bond, by its members", MakeBond, 26, "priority 3,"},
      {"a port that is not selected says nothing",
       [](facts::Node* n) {
         n->hcas[1].ports[0].state = facts::PortState::kDown;
         Second(n).pfc = 0;
       },
       26, "priority 3,"},
      {"management has other priorities",
       [](facts::Node* n) { At(n, "eno1").dcb = facts::Dcb{.pfc = 0xff, .dscp = {}, .trust = "pcp"}; }, 26,
       "priority 3,"},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeLossless();
    row.change(&node);
    const auto got = Find(node);
    EXPECT_TRUE(got.any) << row.what;
    EXPECT_EQ(got.dscp, row.dscp) << row.what << ": " << got.reason;
    EXPECT_NE(got.reason.find(row.priority), std::string::npos) << got.reason;
    EXPECT_TRUE(got.rejected.empty()) << row.what;
    EXPECT_FALSE(got.evidence.empty()) << row.what;
  }
}

TEST(LosslessClassTest, Undecided) {
  const std::string both = "106 (DSCP 26): leads to priority 3 on every port, not proved";
  const struct {
    const char* what;
    Change change;
    std::string reason;
    std::string rejected;
  } rows[] = {
      {"two lossless priorities", [](facts::Node* n) { Second(n).pfc = 1 << 3 | 1 << 6; },
       "several priorities of ens12 are lossless: 3, 6",
       both + " | 194 (DSCP 48): leads to priority 6 on ens12, not proved"},
      {"all lossless", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->pfc = 0xff; }); },
       "several priorities of ens5f1 are lossless: 0, 1, 2, 3, 4, 5, 6, 7",
       both + " | 194 (DSCP 48): leads to priority 6 on every port, not proved"},
      {"one port without", [](facts::Node* n) { Second(n).pfc = 0; }, "priority 3 of ens5f1 is lossless, none of ens12",
       "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"the first port without", [](facts::Node* n) { First(n).pfc = 0; },
       "priority 3 of ens12 is lossless, none of ens5f1", "106 (DSCP 26): leads to priority 3 on ens12, not proved"},
      {"one port without DCB", [](facts::Node* n) { At(n, "ens12").dcb.reset(); },
       "priority 3 of ens5f1 is lossless, none of ens12", "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"an interface that is not known", [](facts::Node* n) { n->hcas[1].ports[0].netdev = "gone"; },
       "priority 3 of ens5f1 is lossless, none of mlx5_3:1",
       "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"two priorities", [](facts::Node* n) { Second(n).pfc = 1 << 6; },
       "priority 3 of ens5f1 is lossless, and 6 of ens12",
       "106 (DSCP 26): leads to priority 3 on ens5f1, not proved | 194 (DSCP 48): leads to priority 6 on ens12, not "
       "proved"},
      {"a member of a bond without",
       [](facts::Node* n) {
         MakeBond(n);
         Second(n).pfc = 0;
       },
       "priority 3 of ens5f1 is lossless, none of ens12", "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"a member of a bond that is gone",
       [](facts::Node* n) {
         MakeBond(n);
         At(n, "bond0").members = {"ens5f1", "gone"};
       },
       "priority 3 of ens5f1 is lossless, none of gone", "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"a bond beside, without members",
       [](facts::Node* n) {
         n->netdevs.push_back(MakeNetdev("bond0", "172.22.0.11", 24, facts::NetdevKind::kBond));
         n->hcas[1] = MakeRoce("mlx5_bond_0", "0000:04:00.0", 25, "bond0", "172.22.0.11");
       },
       "priority 3 of ens5f1 is lossless, none of bond0", "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"trusts the VLAN priority", [](facts::Node* n) { Second(n).trust = "pcp"; },
       "ens12 does not go by the DSCP but by pcp", both},
      {"trusts something else", [](facts::Node* n) { First(n).trust = "port"; },
       "ens5f1 does not go by the DSCP but by port", both},
      {"trust unreadable", [](facts::Node* n) { First(n).trust = ""; }, "what ens5f1 trusts could not be read", both},
      {"no entry", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->dscp.clear(); }); },
       "no DSCP is known to lead to priority 3, the lossless one, on ens5f1", ""},
      {"no entry, and the file says DSCP",
       [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { *d = {.pfc = 8, .dscp = {}, .trust = "dscp"}; }); },
       "no DSCP is known to lead to priority 3, the lossless one, on ens5f1", ""},
      {"entries for others only", [](facts::Node* n) { Second(n).dscp = {{.dscp = 48, .priority = 6}}; },
       "no DSCP is known to lead to priority 3, the lossless one, on ens12",
       "106 (DSCP 26): leads to priority 3 on ens5f1, not proved"},
      {"several DSCPs",
       [](facts::Node* n) {
         Second(n).dscp = {{.dscp = 24, .priority = 3}, {.dscp = 26, .priority = 3}};
       },
       "several DSCPs lead to priority 3, the lossless one, on ens12, and which of them is meant is not known",
       "98 (DSCP 24): leads to priority 3 on ens12, not proved | " + both},
      {"one DSCP, two priorities",
       [](facts::Node* n) {
         Second(n).dscp = {{.dscp = 26, .priority = 3}, {.dscp = 26, .priority = 4}};
       },
       "DSCP 26 leads to priority 3, the lossless one, on ens12, and to another one", both},
      {"another DSCP", [](facts::Node* n) { Second(n).dscp = {{.dscp = 34, .priority = 3}}; },
       "DSCP 26 leads to the lossless priority on ens5f1, DSCP 34 on ens12",
       "106 (DSCP 26): leads to priority 3 on ens5f1, not proved | 138 (DSCP 34): leads to priority 3 on ens12, not "
       "proved"},
      {"the host's own class", [](facts::Node* n) { n->hcas[1].ports[0].host_traffic_class = "104"; },
       "the host sets a traffic class of its own on mlx5_3:1, which overrides any other", both},
      {"the host's own class, the same", [](facts::Node* n) { n->hcas[0].ports[0].host_traffic_class = "106"; },
       "the host sets a traffic class of its own on mlx5_2:1, which overrides any other", both},
      {"the host's own class, not understood", [](facts::Node* n) { n->hcas[0].ports[0].host_traffic_class = ""; },
       "the host sets a traffic class of its own on mlx5_2:1, which overrides any other", both},
      {"what NCCL sends with anyway",
       [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->dscp = {{.dscp = 0, .priority = 3}}; }); },
       "DSCP 0 leads to the lossless priority, and NCCL sends with it by itself",
       "2 (DSCP 0): leads to priority 3 on every port, not proved"},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeLossless();
    row.change(&node);
    const auto got = Find(node);
    EXPECT_TRUE(got.any) << row.what;
    EXPECT_FALSE(got.dscp.has_value()) << row.what;
    EXPECT_EQ(got.reason, row.reason) << row.what;
    EXPECT_EQ(Show(got.rejected), row.rejected) << row.what;
    EXPECT_FALSE(got.evidence.empty()) << row.what;
  }
}

TEST(LosslessClassTest, NothingToSay) {
  const std::pair<const char*, Change> rows[] = {
      {"no DCB",
       [](facts::Node* n) {
         for (auto& netdev : n->netdevs) netdev.dcb.reset();
       }},
      {"PFC nowhere", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->pfc = 0; }); }},
      {"no port", [](facts::Node* n) { n->hcas.clear(); }},
      {"InfiniBand", [](facts::Node* n) { n->hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)}; }},
      {"InfiniBand with an interface that has it",
       [](facts::Node* n) {
         n->hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)};
         n->hcas[0].ports[0].netdev = "ens5f1";
       }},
      {"a bond without members",
       [](facts::Node* n) {
         MakeBond(n);
         At(n, "bond0").members.clear();
       }},
      {"a bond with members that are gone",
       [](facts::Node* n) {
         MakeBond(n);
         At(n, "bond0").members = {"gone"};
       }},
      {"management only",
       [](facts::Node* n) {
         ForBoth(n, [](facts::Dcb* d) { d->pfc = 0; });
         At(n, "eno1").dcb = facts::Dcb{.pfc = 8, .dscp = {{.dscp = 26, .priority = 3}}, .trust = {}};
       }},
  };
  for (const auto& [what, change] : rows) {
    facts::Node node = MakeLossless();
    change(&node);
    const auto got = Find(node);
    EXPECT_FALSE(got.any) << what;
    EXPECT_FALSE(got.dscp.has_value()) << what;
    EXPECT_EQ(got.reason, "no lossless priority is known") << what;
    EXPECT_TRUE(got.rejected.empty() && got.evidence.empty()) << what;
  }
}

TEST(LosslessClassTest, Evidence) {
  facts::Node node = MakeLossless();
  First(&node).trust = "dscp";
  node.hcas[1].ports[0].host_traffic_class = "104";
  std::string out;
  for (const auto& e : Find(node).evidence) out += e.where + " = " + e.value + "\n";
  EXPECT_EQ(out,
            "interface ens5f1 = PFC on priority 3, DSCP 26\n"
            "sys/class/net/ens5f1/qos/trust = dscp\n"
            "interface ens12 = PFC on priority 3, DSCP 26\n"
            "sys/class/infiniband/mlx5_3/tc/1/traffic_class = Global tclass=104\n");
}

TEST(LosslessClassTest, TrafficClasses) {
  EXPECT_EQ(TrafficClassOf(0), 2);
  EXPECT_EQ(TrafficClassOf(24), 98);
  EXPECT_EQ(TrafficClassOf(26), 106);
  EXPECT_EQ(TrafficClassOf(63), 254);
}

TEST(WhyNotLosslessTest, OnlyWhatAnEntrySays) {
  const struct {
    const char* what;
    Change change;
    int dscp;
    const char* why;
  } rows[] = {
      {"the right one", [](facts::Node*) {}, 26, ""},
      {"one that an entry sends elsewhere", [](facts::Node*) {}, 48,
       "its DSCP, 48, does not lead to priority 3, the only lossless one of ens5f1"},
      {"on one port only", [](facts::Node* n) { Second(n).dscp = {{.dscp = 26, .priority = 0}}; }, 26,
       "its DSCP, 26, does not lead to priority 3, the only lossless one of ens12"},
      {"one that no entry names", [](facts::Node*) {}, 24, ""},
      {"two lossless priorities", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->pfc = 0x18; }); }, 48, ""},
      {"trusts the VLAN priority", [](facts::Node* n) { ForBoth(n, [](facts::Dcb* d) { d->trust = "pcp"; }); }, 48, ""},
      {"leads to both",
       [](facts::Node* n) {
         ForBoth(n, [](facts::Dcb* d) { d->dscp = {{.dscp = 48, .priority = 3}, {.dscp = 48, .priority = 6}}; });
       },
       48, ""},
      {"no DCB",
       [](facts::Node* n) {
         for (auto& netdev : n->netdevs) netdev.dcb.reset();
       },
       48, ""},
      {"InfiniBand", [](facts::Node* n) { n->hcas = {MakeIb("mlx5_0", "0000:01:00.0", 400)}; }, 48, ""},
      {"no port", [](facts::Node* n) { n->hcas.clear(); }, 48, ""},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeLossless();
    row.change(&node);
    EXPECT_EQ(WhyNotLossless(node, Assess(node).selection.ports, row.dscp), row.why) << row.what;
  }
}

}  // namespace
}  // namespace nccl_tune::policy
