// SPDX-License-Identifier: Apache-2.0
#include "envplugin/decide.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/env/plan.h"
#include "hw/capture_tree.h"
#include "hw/ip_facts.h"
#include "hw/test_machine.h"

namespace nccl_tune::envplugin {
namespace {

using base::Environment;

constexpr nccl::NcclVersion kVersion{2, 28, 9};
constexpr const char* kPolicy = "etc/nccl-tune/nccl-tune.toml";

struct Tried {
  base::Result<Decision> decision;
  std::size_t reads = 0;
};

// On the small machine with this policy; empty: none.
Tried Try(const Environment& environment, const std::string& policy = "", nccl::NcclVersion version = kVersion) {
  auto capture = hw::ParseMachine(hw::kMachineText);
  if (!policy.empty()) capture.entries[kPolicy] = hw::CaptureFile{policy};
  const hw::CaptureTree machine(std::move(capture));
  const hw::CountingTree tree(machine);
  const Source source{.tree = &tree,
                      .node = "small",
                      .ip = [&](std::vector<facts::Note>* notes) { return hw::ReadIpFiles(tree, notes); },
                      .address = [](const hw::IpFacts&) { return std::optional<facts::IpAddress>(); }};
  auto decision = Decide(source, environment, version);
  return {.decision = std::move(decision), .reads = tree.reads().size()};
}

Decision Decided(const Environment& environment, const std::string& policy = "", nccl::NcclVersion version = kVersion) {
  auto tried = Try(environment, policy, version);
  EXPECT_TRUE(tried.decision.ok()) << tried.decision.error().ToString();
  return tried.decision.value_or({});
}

// The values for a process that has set nothing: what all others are compared with.
const Environment& Plain() {
  static const Environment values = Decided({}).values;
  return values;
}

// The environment as the Slurm plugin leaves it.
Environment AfterSlurm() {
  Environment out;
  std::string set;
  for (const auto& [name, value] : Plain()) {
    out[name] = value;
    set += (set.empty() ? "\"" : ",\"") + name + "\":\"" + value + "\"";
  }
  out["NCCL_TUNE_PLAN"] = R"({"v":1,"node":"small","set":{)" + set + "}}";
  return out;
}

TEST(DecideTest, OnlyNcclsVariablesAndNothingPrinted) {
  ASSERT_TRUE(Plain().contains("NCCL_IB_HCA"));
  EXPECT_EQ(Plain().find("NCCL_IB_HCA")->second, "=mlx5_2:1");
  for (const auto& [name, value] : Plain()) EXPECT_TRUE(name.starts_with("NCCL_")) << name;
  EXPECT_EQ(Decided({}).explanation, "");
  EXPECT_EQ(Decided({}).nothing, "");
}

TEST(DecideTest, TheUsersValueIsNotAnsweredNorWhatGoesWithIt) {
  const auto values = Decided({{"NCCL_IB_HCA", "mlx5_9"}}).values;
  EXPECT_FALSE(values.contains("NCCL_IB_HCA"));
  EXPECT_FALSE(values.contains("NCCL_IB_GID_INDEX"));
}

TEST(DecideTest, WhatIsNothing) {
  const std::string off = "mode = \"off\"\n";
  const struct {
    Environment environment;
    std::string policy;
    const char* nothing;
    bool reads_policy;
  } kRows[] = {
      {{{"NCCL_TUNE", "off"}}, "", "NCCL_TUNE=off", false},
      {{{"NCCL_TUNE", "sometimes"}}, "", "NCCL_TUNE has \"sometimes\", which is no mode", false},
      {{{"NCCL_TUNE", "a\nb"}}, "", "NCCL_TUNE has \"a\\x0ab\", which is no mode", false},
      {AfterSlurm(), "", "what the Slurm plugin has set is there", false},
      {{}, off, "the site's policy turns the tool off on this node", true},
      {{{"NCCL_TUNE", "auto"}}, off, "the site's policy turns the tool off on this node", true},
      {{}, "mode = \"dry-run\"\n", "the site's policy has mode dry-run", true},
      {{{"NCCL_TUNE", ""}}, "mode = \"dry-run\"\n", "the site's policy has mode dry-run", true},
  };
  for (const auto& row : kRows) {
    const auto tried = Try(row.environment, row.policy);
    ASSERT_TRUE(tried.decision.ok()) << row.nothing;
    EXPECT_EQ(tried.decision->nothing, row.nothing);
    EXPECT_TRUE(tried.decision->values.empty()) << row.nothing;
    EXPECT_EQ(tried.decision->explanation, "") << row.nothing;
    EXPECT_EQ(tried.reads, row.reads_policy ? 1U : 0U) << row.nothing;
  }
}

TEST(DecideTest, ThePolicysModeIsOnlyTheDefault) {
  EXPECT_EQ(Decided({}, "mode = \"auto\"\n").values, Plain());
  EXPECT_EQ(Decided({{"NCCL_TUNE", "auto"}}, "mode = \"dry-run\"\n").values, Plain());
  const auto explain = Decided({}, "mode = \"explain\"\n");
  EXPECT_EQ(explain.values, Plain());
  EXPECT_EQ(explain.explanation, "") << "only the process's own user makes a library print";
}

TEST(DecideTest, PolicyAndProfile) {
  const std::string policy = "set.NCCL_IB_TC = 106\n[profile.fast]\nNCCL_IB_SL = 3\n";
  EXPECT_EQ(Decided({}, policy).values.find("NCCL_IB_TC")->second, "106");
  EXPECT_FALSE(Decided({}, policy).values.contains("NCCL_IB_SL"));
  EXPECT_EQ(Decided({{"NCCL_TUNE", "profile=fast"}}, policy).values.find("NCCL_IB_SL")->second, "3");
  const auto missing = Decided({{"NCCL_TUNE", "profile=slow"}}, policy);
  EXPECT_NE(missing.warning.find("slow"), std::string::npos) << missing.warning;
  EXPECT_TRUE(missing.values.contains("NCCL_IB_TC"));
  const auto broken = Decided({}, "mode = 1\n");
  EXPECT_NE(broken.warning.find("site policy ignored"), std::string::npos) << broken.warning;
  EXPECT_EQ(broken.values, Plain());
}

TEST(DecideTest, ExplainAndDryRun) {
  const auto explain = Decided({{"NCCL_TUNE", "explain"}});
  EXPECT_EQ(explain.values, Plain());
  EXPECT_TRUE(explain.explanation.starts_with("nccl-tune: small: ")) << explain.explanation;
  EXPECT_NE(explain.explanation.find("=mlx5_2:1"), std::string::npos);
  EXPECT_EQ(explain.explanation.find("GLOO_SOCKET_IFNAME"), std::string::npos);
  const auto dry = Decided({{"NCCL_TUNE", "dry-run"}});
  EXPECT_TRUE(dry.values.empty());
  EXPECT_EQ(dry.explanation, "nccl-tune: small: dry run, nothing is set\n" + explain.explanation);
  EXPECT_EQ(dry.nothing, "NCCL_TUNE=dry-run");
  const auto off = Decided({{"NCCL_TUNE", "explain"}}, "mode = \"off\"\n");
  EXPECT_EQ(off.explanation, "nccl-tune: small: nothing is set: the site's policy turns the tool off on this node\n");
}

TEST(DecideTest, APlanWhoseValuesWereTakenAwayIsDecidedAgain) {
  auto environment = AfterSlurm();
  environment.erase("NCCL_IB_HCA");
  const auto values = Decided(environment).values;
  EXPECT_EQ(values, (Environment{{"NCCL_IB_HCA", "=mlx5_2:1"}})) << "what is still there is not answered";
}

TEST(DecideTest, AVersionGetsWhatItReads) {
  EXPECT_EQ(Decided({}, "", {2, 32, 0}).values, Plain());
  EXPECT_TRUE(Decided({}, "", {0, 0, 0}).values.empty());
  EXPECT_TRUE(Decided({}, "", {2, 17, 1}).values.empty());
}

TEST(DecideTest, AMachineThatIsNone) {
  const hw::CaptureTree tree{hw::Capture()};
  const Source source{.tree = &tree,
                      .node = "none",
                      .ip = [](std::vector<facts::Note>*) { return hw::IpFacts(); },
                      .address = [](const hw::IpFacts&) { return std::optional<facts::IpAddress>(); }};
  EXPECT_FALSE(Decide(source, {}, kVersion).ok());
}

TEST(PlanStandsTest, Table) {
  const std::string plan = R"({"v":1,"node":"n","set":{"NCCL_A":"1","NCCL_B":"2","GLOO_X":"3"}})";
  const struct {
    Environment environment;
    bool stands;
  } kRows[] = {
      {{{"NCCL_TUNE_PLAN", plan}, {"NCCL_A", "1"}, {"NCCL_B", "2"}, {"GLOO_X", "3"}}, true},
      {{{"NCCL_TUNE_PLAN", plan}, {"NCCL_A", "1"}, {"NCCL_B", "2"}}, true},
      {{{"NCCL_TUNE_PLAN", plan}, {"NCCL_A", "changed"}, {"NCCL_B", ""}}, true},
      {{{"NCCL_TUNE_PLAN", R"({"v":1,"node":"n","set":{}})"}}, true},
      {{{"NCCL_TUNE_PLAN", plan}, {"NCCL_A", "1"}}, false},
      {{{"NCCL_TUNE_PLAN", plan}}, false},
      {{{"NCCL_TUNE_PLAN", R"({"v":1,"node":"other","set":{}})"}}, false},
      {{{"NCCL_TUNE_PLAN", R"({"v":1,"node":"","set":{}})"}}, false},
      {{{"NCCL_A", "1"}, {"NCCL_B", "2"}}, false},
      {{{"NCCL_TUNE_PLAN", ""}}, false},
      {{{"NCCL_TUNE_PLAN", "{"}}, false},
      {{{"NCCL_TUNE_PLAN", "[]"}}, false},
      {{}, false},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(PlanStands(row.environment, "n"), row.stands) << base::ToEntries(row.environment).size();
}

}  // namespace
}  // namespace nccl_tune::envplugin
