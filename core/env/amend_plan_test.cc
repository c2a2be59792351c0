// SPDX-License-Identifier: Apache-2.0
#include "core/env/amend_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::env {
namespace {

const Environment kSet = {{"NCCL_IB_HCA", "=mlx5_2:1"},
                          {"NCCL_IB_GID_INDEX", "3"},
                          {"NCCL_SOCKET_IFNAME", "=eth0"},
                          {"OMPI_MCA_btl_tcp_if_include", "eth0"}};

Amendment Amend(const PlanSummary& plan, const Environment& before, const Environment& now) {
  return AmendPlan(plan, before, [&](const std::string& name) { return base::Lookup(now, name); });
}

TEST(AmendPlanTest, WhatHasComeUpStaysAndIsSaid) {
  const std::string who = "since this plan was made a container or another plugin has set ";
  const struct {
    const char* what;
    Environment before;
    Environment now;
    std::string said;
  } rows[] = {
      {"nothing", {}, {}, ""},
      {"what no rule looks at", {}, {{"PATH", "/bin"}, {"NCCL_DEBUG", "INFO"}}, ""},
      {"what the user had already", {{"NCCL_IB_DISABLE", "0"}}, {{"NCCL_IB_DISABLE", "0"}}, ""},
      {"an opposite that the user had already",
       {{"OMPI_MCA_btl_tcp_if_exclude", "lo"}},
       {{"OMPI_MCA_btl_tcp_if_exclude", "lo"}},
       "since this plan was made: left unset OMPI_MCA_btl_tcp_if_include"},
      {"another value than the user's",
       {{"NCCL_IB_DISABLE", "0"}},
       {{"NCCL_IB_DISABLE", "1"}},
       who + "NCCL_IB_DISABLE=1, which stays"},
      {"what the user had, gone", {{"NCCL_IB_DISABLE", "0"}}, {}, ""},
      {"one of ours, and what goes with it",
       {},
       {{"NCCL_IB_HCA", "mlx5_7"}},
       who + "NCCL_IB_HCA=mlx5_7, which stays; left unset with it: NCCL_IB_GID_INDEX"},
      {"one of ours, our value", {}, {{"NCCL_IB_GID_INDEX", "3"}}, who + "NCCL_IB_GID_INDEX=3, which stays"},
      {"an empty value",
       {},
       {{"NCCL_IB_HCA", ""}},
       who + "NCCL_IB_HCA=, which stays; left unset with it: NCCL_IB_GID_INDEX"},
      {"an opposite",
       {},
       {{"OMPI_MCA_btl_tcp_if_exclude", "lo"}},
       who + "OMPI_MCA_btl_tcp_if_exclude=lo, which stays; left unset with it: OMPI_MCA_btl_tcp_if_include"},
      {"two",
       {},
       {{"NCCL_IB_DISABLE", "0"}, {"NCCL_IB_GID_INDEX", "1\n"}},
       who + "NCCL_IB_DISABLE=0, NCCL_IB_GID_INDEX=1\\x0a, which stays"},
  };
  for (const auto& row : rows) {
    PlanSummary plan;
    plan.set = kSet;
    const auto got = Amend(plan, row.before, row.now);
    EXPECT_EQ(DescribeAmendment(got), row.said) << row.what;
    EXPECT_EQ(got.IsEmpty(), row.said.empty()) << row.what;
    for (const auto& [name, value] : kSet) {
      EXPECT_EQ(got.set.contains(name) + row.now.contains(name) + got.left_out.contains(name), 1) << row.what << name;
    }
  }
}

TEST(AmendPlanTest, WhatTheOptionForcesIsSetWhateverIsThere) {
  PlanSummary plan;
  plan.set = kSet;
  plan.set["NCCL_IB_TC"] = "106";
  plan.forced = {"NCCL_IB_HCA", "NCCL_IB_TC", "NCCL_ALGO"};
  const auto got = Amend(plan, {{"NCCL_IB_TC", "1"}}, {{"NCCL_IB_HCA", "=mlx5_2:1"}, {"NCCL_IB_TC", "106"}});
  EXPECT_TRUE(got.IsEmpty()) << DescribeAmendment(got);
  EXPECT_EQ(got.set, plan.set);
}

constexpr const char* kPlan =
    R"({"v":1,"node":"s","set":{"NCCL_IB_HCA":"=a:1","NCCL_IB_GID_INDEX":"3"},"kept":{"NCCL_IB_TC":"1"},"ports":[],)"
    R"("why":{"NCCL_IB_HCA":"x","NCCL_IB_GID_INDEX":"y"}})";

TEST(AmendJsonTest, SaysWhatIsSetAndWhatIsNot) {
  const Amendment amendment{.set = {{"NCCL_IB_GID_INDEX", "3"}}, .kept = {{"NCCL_IB_HCA", "b"}}, .left_out = {}};
  const std::string text = AmendJson(kPlan, amendment);
  EXPECT_EQ(text, R"({"v":1,"node":"s","set":{"NCCL_IB_GID_INDEX":"3"},"kept":{"NCCL_IB_TC":"1","NCCL_IB_HCA":"b"},)"
                  R"("ports":[],"why":{"NCCL_IB_GID_INDEX":"y"}})");
  EXPECT_TRUE(ParsePlan(text).ok());
}

TEST(AmendJsonTest, StaysShort) {
  const std::string text =
      AmendJson(kPlan, {.set = {}, .kept = {{"NCCL_IB_HCA", std::string(kPlanLimit, 'x')}}, .left_out = {}});
  EXPECT_EQ(text, R"({"v":1,"node":"s","set":{},"ports":[]})");
}

TEST(AmendJsonTest, WhatNeedsNoChangeOrIsNoPlanStays) {
  EXPECT_EQ(AmendJson(kPlan, {}), kPlan);
  const Amendment amendment{.set = {}, .kept = {{"NCCL_IB_HCA", "b"}}, .left_out = {}};
  for (const char* text : {"", "{", "[]", "3", "plan", "{} {}"}) EXPECT_EQ(AmendJson(text, amendment), text);
  EXPECT_EQ(AmendJson(R"({"set":[],"why":1,"kept":2})", amendment),
            R"({"set":{},"why":{},"kept":{"NCCL_IB_HCA":"b"}})");
}

}  // namespace
}  // namespace nccl_tune::env
