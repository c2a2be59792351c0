// SPDX-License-Identifier: Apache-2.0
#include "launcher/meeting.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::launcher {
namespace {

const std::vector<OwnAddress> kOwn = {{"eno1", "10.0.0.11", "10.0.0.0/24"}, {"ens5f1", "172.20.0.11", "172.20.0.0/24"}};

std::string Plan(const std::string& interface, const std::string& address) {
  return R"({"v":1,"set":{"NCCL_SOCKET_IFNAME":"=)" + interface +
         R"("},"ports":[{"hca":"mlx5_2","port":1,"netdev":"ens5f1"}],"if":")" + interface + R"(","addr":")" + address +
         "\"}";
}

Entry Node(const std::string& name, const std::string& network, bool on_rail) {
  Entry entry;
  entry.node = name;
  if (!network.empty()) entry.network = network;
  entry.on_rail = on_rail;
  return entry;
}

TEST(PlannedMeetingTest, IsWhereThePlanSays) {
  const auto rail =
      PlannedMeeting({{"NCCL_TUNE_PLAN", Plan("ens5f1", "172.20.0.11")}, {"NCCL_SOCKET_IFNAME", "=ens5f1"}}, kOwn);
  ASSERT_TRUE(rail);
  EXPECT_EQ(rail->network, "172.20.0.0/24");
  EXPECT_TRUE(rail->on_rail);
  const auto management =
      PlannedMeeting({{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.11")}, {"NCCL_SOCKET_IFNAME", "=eno1"}}, kOwn);
  ASSERT_TRUE(management);
  EXPECT_FALSE(management->on_rail);
}

TEST(PlannedMeetingTest, NoneWithoutAPlanOfThisNode) {
  const std::vector<base::Environment> rows = {
      {},
      {{"NCCL_SOCKET_IFNAME", "=eno1"}},
      {{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.11")}},
      {{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.11")}, {"NCCL_SOCKET_IFNAME", "mine"}},
      {{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.12")}, {"NCCL_SOCKET_IFNAME", "=eno1"}},
      {{"NCCL_TUNE_PLAN", Plan("eno1", "no address")}, {"NCCL_SOCKET_IFNAME", "=eno1"}},
      {{"NCCL_TUNE_PLAN", "{"}, {"NCCL_SOCKET_IFNAME", "=eno1"}},
  };
  for (const auto& row : rows) EXPECT_FALSE(PlannedMeeting(row, kOwn));
}

TEST(FindDisagreementTest, NamesTheOddNode) {
  EXPECT_EQ(FindDisagreement({Node("server1", "172.20.0.0/24", true), Node("server1", "172.20.0.0/24", true),
                              Node("server2", "10.0.0.0/24", false), Node("server3", "172.20.0.0/24", true)}),
            "the nodes do not meet on one network: server2 on 10.0.0.0/24, the other 2 on 172.20.0.0/24. Leaving "
            "NCCL_SOCKET_IFNAME unset on all of them, as without --nccl-tune. See: srun -w server2 nccl-tune explain");
}

TEST(FindDisagreementTest, NoneWhereTheyMeetOrNobodyRelies) {
  EXPECT_FALSE(FindDisagreement({}));
  EXPECT_FALSE(FindDisagreement({Node("a", "", false), Node("b", "", false)}));
  EXPECT_FALSE(FindDisagreement({Node("a", "172.20.0.0/24", true), Node("b", "172.20.0.0/24", true)}));
  EXPECT_FALSE(FindDisagreement({Node("a", "172.20.0.0/24", true), Node("b", "", false)})) << "b's own choice";
  EXPECT_FALSE(FindDisagreement({Node("a", "10.1.0.0/24", false), Node("b", "10.2.0.0/24", false)}))
      << "addresses in Slurm reach across networks";
}

TEST(FindDisagreementTest, ManyAreCounted) {
  std::vector<Entry> entries = {Node("z", "172.20.0.0/24", true)};
  for (int i = 0; i < 10; ++i) entries.push_back(Node("m" + std::to_string(i), "172.20.0.0/24", true));
  for (int i = 0; i < 6; ++i) entries.push_back(Node("n" + std::to_string(i), "10.0.0.0/24", false));
  const auto got = FindDisagreement(entries);
  ASSERT_TRUE(got);
  EXPECT_NE(got->find("n0, n1, n2, n3 and 2 more on 10.0.0.0/24, the other 11 on"), std::string::npos) << *got;
}

TEST(DropPlannedInterfaceTest, OnlyOurs) {
  base::Environment ours = {{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.11")}, {"NCCL_SOCKET_IFNAME", "=eno1"}};
  DropPlannedInterface(&ours);
  EXPECT_FALSE(ours.contains("NCCL_SOCKET_IFNAME"));
  base::Environment sisters = {
      {"NCCL_TUNE_PLAN",
       R"({"v":1,"set":{"NCCL_SOCKET_IFNAME":"=eno1","GLOO_SOCKET_IFNAME":"eno1","TP_SOCKET_IFNAME":"eno1",)"
       R"("NCCL_IB_HCA":"=mlx5_2:1"}})"},
      {"NCCL_SOCKET_IFNAME", "=eno1"},
      {"GLOO_SOCKET_IFNAME", "eno1"},
      {"TP_SOCKET_IFNAME", "mine"},
      {"NCCL_IB_HCA", "=mlx5_2:1"}};
  DropPlannedInterface(&sisters);
  EXPECT_FALSE(sisters.contains("GLOO_SOCKET_IFNAME"));
  EXPECT_TRUE(sisters.contains("TP_SOCKET_IFNAME")) << "the user's";
  EXPECT_TRUE(sisters.contains("NCCL_IB_HCA"));
  base::Environment theirs = {{"NCCL_TUNE_PLAN", Plan("eno1", "10.0.0.11")}, {"NCCL_SOCKET_IFNAME", "eno1"}};
  DropPlannedInterface(&theirs);
  EXPECT_TRUE(theirs.contains("NCCL_SOCKET_IFNAME"));
}

}  // namespace
}  // namespace nccl_tune::launcher
