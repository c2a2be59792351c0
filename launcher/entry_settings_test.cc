// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/node_entry.h"

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

env::PlanSummary Plan() {
  env::PlanSummary out;
  out.set = {{"NCCL_IB_HCA", "=mlx5_0:1"},   {"NCCL_IB_GID_INDEX", "3"},   {"NCCL_IB_TC", "106"},
             {"NCCL_IB_FIFO_TC", "106"},     {"NCCL_CROSS_NIC", "0"},      {"NCCL_SOCKET_IFNAME", "=eth0"},
             {"GLOO_SOCKET_IFNAME", "eth0"}, {"UCX_NET_DEVICES", "x,eth0"}};
  return out;
}

NodeEntry Describe(base::Environment environment, const env::PlanSummary* plan,
                   const std::vector<nccl::ConfFile>& files = {}) {
  NodeEntry out;
  DescribeSettings(nccl::MergeSettings(environment, files), plan, &out);
  return out;
}

TEST(EntrySettingsTest, OursThatMustAgree) {
  const auto plan = Plan();
  const NodeEntry entry = Describe(plan.set, &plan);
  EXPECT_TRUE(entry.planned);
  EXPECT_THAT(entry.planned_values,
              ElementsAre(Pair("NCCL_CROSS_NIC", "0"), Pair("NCCL_IB_FIFO_TC", "106"), Pair("NCCL_IB_TC", "106")));
  EXPECT_THAT(entry.user_values, IsEmpty());
  EXPECT_EQ(entry.changeable, (Changeable{true, true, true, true}));
}

TEST(EntrySettingsTest, TheUsersAreNamed) {
  const auto plan = Plan();
  auto environment = plan.set;
  environment["NCCL_IB_TC"] = "96";
  environment["NCCL_DEBUG"] = "INFO";
  environment["TP_SOCKET_IFNAME"] = "eth1";
  environment["AWS_SECRET_ACCESS_KEY"] = "abc";
  environment["NCCL_TUNE_PLAN"] = "{}";
  environment["NCCL_TUNE_REPORT_DIR"] = "/tmp";
  const NodeEntry entry = Describe(
      environment, &plan, {nccl::ParseConfFile("/etc/nccl.conf", "NCCL_IB_RETRY_CNT=7\nPATH=/x\n", {2, 28, 9})});
  EXPECT_THAT(entry.user_values, ElementsAre(Pair("NCCL_DEBUG", "INFO"), Pair("NCCL_IB_RETRY_CNT", "7"),
                                             Pair("NCCL_IB_TC", "96"), Pair("TP_SOCKET_IFNAME", "eth1")));
  EXPECT_FALSE(entry.changeable.traffic_class);
  EXPECT_TRUE(entry.changeable.rails);
  EXPECT_THAT(Describe(environment, nullptr).user_values, ::testing::Contains(Pair("NCCL_IB_HCA", "=mlx5_0:1")));
}

TEST(EntrySettingsTest, WhatMayNotBeChanged) {
  struct Row {
    const char* name;
    const char* value;  // null: unset
    Changeable left;
  };
  const std::vector<Row> rows = {
      {"NCCL_IB_HCA", "mlx5", {.rails = false, .gid = false, .traffic_class = false, .interface = true}},
      {"NCCL_IB_HCA", nullptr, {.rails = false, .gid = false, .traffic_class = false, .interface = true}},
      {"NCCL_IB_GID_INDEX", "1", {.rails = true, .gid = false, .traffic_class = true, .interface = true}},
      {"NCCL_IB_GID_INDEX", nullptr, {.rails = true, .gid = true, .traffic_class = true, .interface = true}},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0/8", {.rails = true, .gid = false, .traffic_class = true, .interface = true}},
      {"NCCL_IB_FIFO_TC", "0", {.rails = true, .gid = true, .traffic_class = false, .interface = true}},
      {"NCCL_SOCKET_IFNAME", "eth0", {.rails = true, .gid = true, .traffic_class = true, .interface = false}},
      {"NCCL_SOCKET_IFNAME", nullptr, {.rails = true, .gid = true, .traffic_class = true, .interface = false}},
  };
  for (const auto& row : rows) {
    const auto plan = Plan();
    auto environment = plan.set;
    environment.erase(row.name);
    if (row.value != nullptr) environment[row.name] = row.value;
    EXPECT_EQ(Describe(environment, &plan).changeable, row.left) << row.name;
  }
  auto asked = Plan();
  asked.forced = {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"};
  EXPECT_EQ(Describe(asked.set, &asked).changeable, Changeable{}) << "asked for by an option";
}

TEST(EntrySettingsTest, LongAndGuardingValuesAreHashes) {
  const NodeEntry entry = Describe({{"NCCL_SOCKET_MAGIC", "123"},
                                    {"NCCL_COMM_ID", "10.0.0.1:5"},
                                    {"NCCL_ALGO", std::string(25, 'x')},
                                    {"NCCL_PROTO", std::string(24, 'x')},
                                    {"NCCL_NET", "a\nb"}},
                                   nullptr);
  for (const auto& [name, value] : entry.user_values) {
    EXPECT_EQ(value.starts_with('#') && value.size() == 9, name != "NCCL_PROTO") << name << " " << value;
  }
}

TEST(EntrySettingsTest, ManyAreOneHash) {
  base::Environment environment;
  for (int i = 0; i < 100; ++i) environment["NCCL_X" + std::to_string(100 + i)] = "1";
  environment["NCCL_\x01"] = "1";
  environment["NCCL_" + std::string(80, 'X')] = "1";
  const auto one = Describe(environment, nullptr);
  EXPECT_EQ(one.user_values.size(), kMostVariables + 1);
  ASSERT_TRUE(one.user_values.contains("NCCL_and_others"));
  environment["NCCL_X199"] = "2";
  EXPECT_NE(Describe(environment, nullptr).user_values.at("NCCL_and_others"), one.user_values.at("NCCL_and_others"));
}

}  // namespace
}  // namespace nccl_tune::launcher
