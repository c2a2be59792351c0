// SPDX-License-Identifier: Apache-2.0
#include "launcher/agree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "launcher/test_entries.h"

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  Agreement agreement;
  std::vector<std::string> lines;
  std::vector<Item> left;  // not settled, of those that could be
};

Outcome Conclude(const std::vector<NodeEntry>& entries, const std::vector<FailedProbe>& failures = {}) {
  auto differences = DifferencesOf(failures);
  for (auto& difference : Compare(entries)) differences.push_back(std::move(difference));
  auto agreed = Agree(entries, &differences);
  Outcome out{agreed.agreement, agreed.lines, {}};
  for (const auto& difference : differences) {
    if (!difference.settled && difference.item != Item::kOther) out.left.push_back(difference.item);
  }
  return out;
}

void LoseRail(NodeEntry* entry, std::size_t rail) {
  entry->rails.erase(entry->rails.begin() + static_cast<std::ptrdiff_t>(rail));
  entry->layout[rail] = 'd';
}

void ShareOneNetwork(std::vector<NodeEntry>* entries) {
  for (auto& entry : *entries) {
    for (auto& rail : entry.rails) rail.network = facts::ParseIpPrefix("10.0.0.0/16").value_or({});
  }
}

TEST(AgreeTest, ADeadRailIsLeftOutOnAll) {
  auto entries = MakeTestEntries(8);
  LoseRail(&entries[6], 3);
  const auto got = Conclude(entries);
  EXPECT_THAT(got.agreement.drop_networks, ElementsAre("172.20.3.0/24"));
  EXPECT_THAT(got.lines, ElementsAre("rail 172.20.3.0/24 is missing on server7: left out on all nodes, 7 of 8 rails "
                                     "are used"));
  EXPECT_THAT(got.left, IsEmpty());
}

TEST(AgreeTest, DifferentDeadRailsOnTwoNodes) {
  auto entries = MakeTestEntries(2);
  LoseRail(&entries[0], 3);
  LoseRail(&entries[1], 5);
  const auto got = Conclude(entries);
  EXPECT_THAT(got.agreement.drop_networks, ElementsAre("172.20.3.0/24", "172.20.5.0/24"));
  EXPECT_EQ(got.lines.size(), 2U);
}

TEST(AgreeTest, ByPlaceWhereNetworksDoNotTell) {
  auto entries = MakeTestEntries(8);
  ShareOneNetwork(&entries);
  LoseRail(&entries[1], 2);
  const auto got = Conclude(entries);
  EXPECT_THAT(got.agreement.drop_networks, IsEmpty());
  EXPECT_THAT(got.agreement.drop_places, ElementsAre(2U));
  EXPECT_EQ(got.agreement.layout_size, 10U);
  EXPECT_THAT(got.lines, ElementsAre("rail of RDMA port 3 is missing on server2: left out on all nodes, 7 of 8 rails "
                                     "are used"));
  EXPECT_THAT(got.left, IsEmpty());
}

TEST(AgreeTest, RailsWithoutAnAgreement) {
  struct Row {
    const char* why;
    std::function<void(std::vector<NodeEntry>*)> change;
  };
  const std::vector<Row> rows = {
      {"the user's list", [](auto* e) { (*e)[0].changeable.rails = false; }},
      {"a node without rails", [](auto* e) { (*e)[0].rails.clear(); }},
      {"no layout",
       [](auto* e) {
         ShareOneNetwork(e);
         (*e)[2].layout.clear();
       }},
      {"built otherwise",
       [](auto* e) {
         ShareOneNetwork(e);
         (*e)[2].layout += "o";
       }},
      {"networks of racks and no layout",
       [](auto* e) {
         for (auto& rail : (*e)[2].rails) rail.network->address.bytes[13] = 17;
         for (auto& entry : *e) entry.layout.clear();
       }},
  };
  for (const auto& row : rows) {
    auto entries = MakeTestEntries(4);
    LoseRail(&entries[1], 2);
    row.change(&entries);
    const auto got = Conclude(entries);
    EXPECT_EQ(got.agreement, Agreement{}) << row.why;
    EXPECT_THAT(got.left, ElementsAre(Item::kRails)) << row.why;
    EXPECT_THAT(got.lines, IsEmpty()) << row.why;
  }
}

TEST(AgreeTest, AsManyRailsInOneNetworkNeedNoAgreement) {
  auto entries = MakeTestEntries(2);
  ShareOneNetwork(&entries);
  LoseRail(&entries[0], 1);
  LoseRail(&entries[1], 2);
  EXPECT_EQ(Conclude(entries).agreement, Agreement{});
}

TEST(AgreeTest, OneFamily) {
  struct Row {
    std::string odd;  // families of the first node's rails
    std::string others;
    std::optional<int> family;
  };
  for (const auto& row : std::vector<Row>{{"6", "46", 6}, {"64", "46", 4}, {"64", "4", 4}, {"6", "4", std::nullopt}}) {
    auto entries = MakeTestEntries(4);
    for (auto& entry : entries) {
      for (auto& rail : entry.rails) rail.families = &entry == &entries[0] ? row.odd : row.others;
    }
    const auto got = Conclude(entries);
    EXPECT_EQ(got.agreement.family, row.family) << row.odd << " " << row.others;
    EXPECT_EQ(got.left.empty(), row.family.has_value());
    if (row.family) {
      EXPECT_THAT(got.lines[0], HasSubstr("on all nodes: server1 has IPv6, the others IPv4"));
    }
    entries[2].changeable.gid = false;
    EXPECT_EQ(Conclude(entries).agreement.family, std::nullopt) << "the user's";
  }
}

TEST(AgreeTest, OneTrafficClass) {
  const auto run = [](const std::vector<std::string>& classes) {
    auto entries = MakeTestEntries(static_cast<std::uint32_t>(classes.size()));
    for (std::size_t i = 0; i < classes.size(); ++i) {
      entries[i].planned_values.clear();
      if (!classes[i].empty()) entries[i].planned_values["NCCL_IB_TC"] = classes[i];
    }
    return entries;
  };
  EXPECT_EQ(Conclude(run({"106", "106", ""})).agreement.traffic_class, "106");
  EXPECT_EQ(Conclude(run({"106", "", ""})).agreement.traffic_class, "");
  EXPECT_EQ(Conclude(run({"106", ""})).agreement.traffic_class, "");
  EXPECT_EQ(Conclude(run({"106", "106", "106", "104"})).agreement.traffic_class, "");
  EXPECT_EQ(Conclude(run({"106", "106"})).agreement.traffic_class, std::nullopt);
  EXPECT_THAT(Conclude(run({"106", "106", ""})).lines,
              ElementsAre("NCCL_IB_TC=106 on all nodes: server3 has unset, the others 106"));
  auto theirs = run({"106", "106", ""});
  theirs[2].user_values["NCCL_IB_TC"] = "96";
  theirs[2].changeable.traffic_class = false;
  const auto got = Conclude(theirs);
  EXPECT_EQ(got.agreement.traffic_class, std::nullopt);
  EXPECT_THAT(got.left, ElementsAre(Item::kTrafficClass));
}

TEST(AgreeTest, BackToTheAddressInSlurm) {
  auto entries = MakeTestEntries(4);
  entries[2].network = "10.0.0.0/24";
  entries[2].on_rail = false;
  const auto got = Conclude(entries);
  EXPECT_TRUE(got.agreement.fall_back);
  EXPECT_THAT(got.lines,
              ElementsAre("the nodes do not meet on one network: server3 has 10.0.0.0/24, the other 3 172.20.0.0/24",
                          "NCCL_SOCKET_IFNAME is the interface of the node's address in Slurm on all nodes"));
  EXPECT_THAT(got.left, IsEmpty());
}

TEST(AgreeTest, FailedProbes) {
  const std::vector<FailedProbe> failures = {{"server1", "server2", "172.20.0.2", "no answer within 2 s"},
                                             {"server3", "server2", "172.20.0.2", "no answer within 2 s"},
                                             {"server3", "server4", "172.20.0.4", "connection refused"}};
  auto entries = MakeTestEntries(4);
  const auto got = Conclude(entries, failures);
  EXPECT_TRUE(got.agreement.fall_back);
  EXPECT_THAT(got.left, IsEmpty());
  for (auto& entry : entries) entry.on_rail = false;  // there is nowhere to go back to
  const auto hopeless = Conclude(entries, failures);
  EXPECT_FALSE(hopeless.agreement.fall_back);
  EXPECT_THAT(hopeless.left, ElementsAre(Item::kProbes));
  const auto difference = DifferencesOf(failures);
  ASSERT_EQ(difference.size(), 1U);
  EXPECT_EQ(difference[0].odd.size(), 2U);
  EXPECT_EQ(difference[0].advice, "for one, server1 does not reach server2 at 172.20.0.2: no answer within 2 s");
  EXPECT_TRUE(DifferencesOf({}).empty());
}

TEST(AgreeTest, NothingForNodesThatAreAlike) {
  for (const std::uint32_t count : {0U, 1U, 2U, 100U}) {
    const auto got = Conclude(MakeTestEntries(count));
    EXPECT_EQ(got.agreement, Agreement{});
    EXPECT_THAT(got.lines, IsEmpty());
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
