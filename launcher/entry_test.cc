// SPDX-License-Identifier: Apache-2.0
#include "launcher/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kPlan =
    R"({"v":1,"node":"server1","set":{"NCCL_IB_HCA":"=mlx5_2:1"},"if":"ens5f1","addr":"172.20.0.11"})";

TEST(EntryTest, TellsThePlanOfTheFirstTaskOnly) {
  const Environment environment = {{"NCCL_TUNE_PLAN", kPlan}, {"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_DEBUG", "INFO"}};
  const Entry first = DescribeTask({.node_id = 2, .node = "server3"}, environment);
  EXPECT_TRUE(first.planned);
  EXPECT_THAT(first.settings, ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_2:1")));
  const Entry second = DescribeTask({.local_rank = 1, .node_id = 2, .node = "server3"}, environment);
  EXPECT_THAT(second.settings, IsEmpty());
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(PlanText(environment, "if"), "ens5f1");
  EXPECT_EQ(PlanText(environment, "nothing"), std::nullopt);
}

TEST(EntryTest, WhatHasChangedSinceThePlanCountsAsItIs) {
  const auto describe = [](const Environment& more) {
    Environment environment = {{"NCCL_TUNE_PLAN", kPlan}};
    environment.insert(more.begin(), more.end());
    return DescribeTask({}, environment);
  };
  EXPECT_THAT(describe({{"NCCL_IB_HCA", "mlx5_0"}}).settings, ElementsAre(Pair("NCCL_IB_HCA", "mlx5_0")));
  EXPECT_THAT(describe({}).settings, IsEmpty());
  EXPECT_NE(describe({{"NCCL_IB_HCA", "mlx5_0"}}).digest, describe({{"NCCL_IB_HCA", "=mlx5_2:1"}}).digest);
  EXPECT_THAT(DescribeTask({}, {{"NCCL_TUNE_PLAN", R"({"v":1,"set":7})"}}).settings, IsEmpty());
}

TEST(EntryTest, WithoutAPlanTheVariablesCount) {
  for (const char* plan : {"", "{", "[]", "{\"v\":2}", "null"}) {
    const Environment environment = {
        {"NCCL_TUNE_PLAN", plan}, {"NCCL_DEBUG", "INFO"}, {"NCCL_TUNE_X", "1"}, {"NCC", "1"}, {"NCCM", "1"}};
    const Entry entry = DescribeTask({}, environment);
    EXPECT_FALSE(entry.planned) << plan;
    EXPECT_THAT(entry.settings, ElementsAre(Pair("NCCL_DEBUG", "INFO"))) << plan;
  }
}

TEST(EntryTest, DigestDependsOnNamesAndValues) {
  const auto digest = [](const Environment& environment) { return DescribeTask({}, environment).digest; };
  EXPECT_NE(digest({{"NCCL_A", "1"}}), digest({{"NCCL_A", "2"}}));
  EXPECT_NE(digest({{"NCCL_A", "1"}}), digest({{"NCCL_B", "1"}}));
  EXPECT_EQ(digest({{"NCCL_A", "1"}, {"X", "1"}}), digest({{"NCCL_A", "1"}}));
  EXPECT_EQ(digest({}).size(), 16U);
}

TEST(EntryTest, ComesBackAsItWent) {
  Entry entry = DescribeTask({.local_rank = 0, .node_id = 1, .node = "server2"}, {{"NCCL_TUNE_PLAN", kPlan}});
  entry.address = "172.20.0.12";
  entry.port = 20'000;
  const auto back = DecodeEntry(EncodeEntry(entry));
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(EncodeEntry(*back), EncodeEntry(entry));
  EXPECT_EQ(back->node, "server2");
  EXPECT_EQ(back->port, 20'000);
}

TEST(EntryTest, RefusesOtherText) {
  for (const char* text :
       {"", "{}", "[]", "7", "{\"v\":1}", R"({"v":2,"node":"a","id":0,"local":0,"planned":true,"digest":"x"})",
        R"({"v":1,"node":7,"id":0,"local":0,"planned":true,"digest":"x"})",
        R"({"v":1,"node":"a","id":-1,"local":0,"planned":true,"digest":"x"})",
        R"({"v":1,"node":"a","id":0,"local":4294967296,"planned":true,"digest":"x"})",
        R"({"v":1,"node":"a","id":0,"local":0,"planned":1,"digest":"x"})",
        R"({"v":1,"node":"a","id":0,"local":0,"planned":true})"}) {
    const auto entry = DecodeEntry(text);
    ASSERT_FALSE(entry.ok()) << text;
    EXPECT_THAT(entry.error().ToString(), HasSubstr("not an entry of this version")) << text;
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
