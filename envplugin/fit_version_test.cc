// SPDX-License-Identifier: Apache-2.0
#include "envplugin/fit_version.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::envplugin {
namespace {

constexpr nccl::NcclVersion kSince218{2, 18, 0};
constexpr nccl::NcclVersion kSince221{2, 21, 0};

env::Setting Set(const char* variable, const nccl::NcclVersion& since, env::Action action = env::Action::kSet) {
  env::Setting out;
  out.decision.variable = variable;
  out.decision.value = "1";
  out.action = action;
  out.since = since;
  return out;
}

env::Plan SomePlan() {
  env::Plan out;
  out.settings = {Set("NCCL_IB_HCA", kSince218),
                  Set("NCCL_IB_ADDR_FAMILY", kSince221),
                  Set("NCCL_IB_ADDR_RANGE", kSince218),
                  Set("NCCL_SOCKET_IFNAME", kSince218),
                  Set("GLOO_SOCKET_IFNAME", {0, 0, 0}),
                  Set("NVSHMEM_HCA_LIST", {0, 0, 0}, env::Action::kKeep),
                  Set("NCCL_SITE_OWN", {0, 0, 0}),
                  Set("NCCL_NEW", {2, 30, 3}),
                  Set("NCCL_KEPT", {2, 30, 3}, env::Action::kKeep)};
  return out;
}

std::string Names(const env::Plan& plan) {
  std::string out;
  for (const auto& [name, value] : env::ValuesOf(plan)) out += name + " ";
  return out;
}

std::string YieldedTo(const env::Plan& plan, const std::string& variable) {
  for (const auto& setting : plan.settings)
    if (setting.decision.variable == variable) return setting.yielded_to;
  return "not there";
}

TEST(FitVersionTest, EachVersionGetsWhatItReads) {
  const struct {
    nccl::NcclVersion version;
    const char* names;
  } kRows[] = {
      {{2, 32, 0}, "NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_HCA NCCL_NEW NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{2, 30, 3}, "NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_HCA NCCL_NEW NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{255, 255, 255},
       "NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_HCA NCCL_NEW NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{2, 30, 2}, "NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_HCA NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{2, 28, 9}, "NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_HCA NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{2, 20, 5}, "NCCL_IB_HCA NCCL_SITE_OWN NCCL_SOCKET_IFNAME "},
      {{2, 17, 0}, "NCCL_SITE_OWN "},
      {{0, 0, 0}, "NCCL_SITE_OWN "},
  };
  for (const auto& row : kRows) {
    auto plan = SomePlan();
    FitToVersion(row.version, &plan);
    EXPECT_EQ(Names(plan), row.names) << row.version.ToString();
  }
}

TEST(FitVersionTest, SaysWhy) {
  auto plan = SomePlan();
  FitToVersion({2, 20, 5}, &plan);
  EXPECT_EQ(YieldedTo(plan, "NCCL_IB_ADDR_FAMILY"), "NCCL 2.20.5 does not read it, 2.21.0 does");
  EXPECT_EQ(YieldedTo(plan, "NCCL_IB_ADDR_RANGE"), "NCCL_IB_ADDR_FAMILY is left unset, and this goes with it");
  EXPECT_EQ(YieldedTo(plan, "NCCL_IB_HCA"), "");
  EXPECT_EQ(YieldedTo(plan, "NCCL_KEPT"), "") << "the user's stays the user's";
  EXPECT_EQ(YieldedTo(plan, "GLOO_SOCKET_IFNAME"), "not there");
  EXPECT_EQ(YieldedTo(plan, "NVSHMEM_HCA_LIST"), "not there");
}

TEST(FitVersionTest, AnEmptyPlan) {
  env::Plan plan;
  FitToVersion({2, 28, 9}, &plan);
  EXPECT_TRUE(plan.settings.empty());
}

}  // namespace
}  // namespace nccl_tune::envplugin
