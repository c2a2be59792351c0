// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nccl_tune::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

MpiFacts Facts() { return {.ranks = 3, .local_ranks = 1, .usable_cores = 2, .online_cores = 4}; }

// "name=value" without the prefix.
std::vector<std::string> Chosen(const MpiFacts& facts) {
  std::vector<std::string> chosen;
  for (const Setting& setting : ChooseMpiSettings(facts)) {
    EXPECT_TRUE(setting.name.starts_with("OMPI_MCA_"));
    EXPECT_NE(setting.why, "");
    chosen.push_back(setting.name.substr(9) + "=" + setting.value);
  }
  return chosen;
}

TEST(MpiSettingsTest, StandardChoice) {
  EXPECT_THAT(Chosen(Facts()), ElementsAre("pml=ob1", "btl=^openib", "coll_tuned_use_dynamic_rules=1",
                                           "coll_tuned_allreduce_algorithm=4"));
  MpiFacts alone = Facts();
  alone.ranks = 1;
  EXPECT_THAT(Chosen(alone), IsEmpty());
}

TEST(MpiSettingsTest, YieldsWhereRanksShareCores) {
  MpiFacts facts = Facts();
  facts.online_cores = 2;
  EXPECT_THAT(Chosen(facts), IsSupersetOf({"mpi_yield_when_idle=1"}));
  facts = Facts();
  facts.local_ranks = 2;
  EXPECT_THAT(Chosen(facts), IsSupersetOf({"mpi_yield_when_idle=1"}));
  facts.environment["OMPI_MCA_mpi_yield_when_idle"] = "0";
  EXPECT_EQ(Chosen(facts).size(), 4U);
}

TEST(MpiSettingsTest, InterfaceOnlyFromOneExactName) {
  MpiFacts facts = Facts();
  facts.environment["NCCL_SOCKET_IFNAME"] = "=ens1";
  EXPECT_EQ(Chosen(facts)[0], "btl_tcp_if_include=ens1");
  for (const char* text : {"", "=", "ens1", "^ens1", "=ens1,ens2", "=ens1:0"}) {
    facts.environment["NCCL_SOCKET_IFNAME"] = text;
    EXPECT_EQ(Chosen(facts).size(), 4U) << text;
  }
}

TEST(MpiSettingsTest, TheUsersSettingsStand) {
  struct Case {
    const char* name;
    std::size_t left;
  };
  for (const Case& one : {Case{"btl_tcp_if_include", 4}, Case{"btl_tcp_if_exclude", 4}, Case{"btl", 3}, Case{"pml", 3},
                          Case{"coll_tuned_use_dynamic_rules", 3}, Case{"coll_tuned_allreduce_algorithm", 3}}) {
    MpiFacts facts = Facts();
    facts.environment["NCCL_SOCKET_IFNAME"] = "=ens1";
    ASSERT_EQ(Chosen(facts).size(), 5U);
    facts.environment[std::string("OMPI_MCA_") + one.name] = "x";
    EXPECT_EQ(Chosen(facts).size(), one.left) << one.name;
  }
}

TEST(MpiSettingsTest, ParameterFilesCount) {
  MpiFacts facts = Facts();
  facts.environment["NCCL_SOCKET_IFNAME"] = "=ens1";
  facts.parameter_files = {"# btl_tcp_if_include = no\n\n  btl = ^uct,openib\n", "btl_tcp_if_exclude=lo"};
  EXPECT_THAT(Chosen(facts),
              ElementsAre("pml=ob1", "coll_tuned_use_dynamic_rules=1", "coll_tuned_allreduce_algorithm=4"));
}

}  // namespace
}  // namespace nccl_tune::bench
