// SPDX-License-Identifier: Apache-2.0
#include "core/policy/site_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/facts/pci_address.h"
#include "core/policy/host_list.h"

namespace nccl_tune::policy {
namespace {

Stated<std::string> Say(std::string text) { return {.value = std::move(text), .origin = {.key = "k", .line = 1}}; }

HostList Hosts(const char* text) {
  const auto list = ParseHostList(text);
  return list.ok() ? *list : HostList();
}

SiteOverride When(SiteCondition condition, SitePolicy keys) {
  return {.condition = std::move(condition), .keys = std::move(keys), .origin = {}};
}

SitePolicy WithClass(int tc) {
  SitePolicy out;
  out.tc = {.value = tc, .origin = {}};
  return out;
}

TEST(SitePolicyTest, NothingSaid) {
  const SitePolicy policy = Resolve({}, {});
  EXPECT_FALSE(policy.mode);
  EXPECT_FALSE(policy.IsOff());
  EXPECT_EQ(policy.GidIndex(), GidIndexRule::kPin);
  EXPECT_TRUE(MaySet(policy, "NCCL_IB_HCA"));
  EXPECT_TRUE(policy.set.empty());
}

TEST(SitePolicyTest, Holds) {
  const SiteContext known{.node = "node03", .partition = "gpu", .features = {{"ib", "h100"}}};
  const struct {
    SiteCondition condition;
    SiteContext context;
    bool holds;
  } kRows[] = {
      {{.partitions = {"gpu"}, .features = {}, .nodes = {}}, known, true},
      {{.partitions = {"debug", "gpu"}, .features = {}, .nodes = {}}, known, true},
      {{.partitions = {"debug"}, .features = {}, .nodes = {}}, known, false},
      {{.partitions = {"gp"}, .features = {}, .nodes = {}}, known, false},
      {{.partitions = {"gpu"}, .features = {}, .nodes = {}}, {}, false},
      {{.partitions = {}, .features = {"h100", "a100"}, .nodes = {}}, known, true},
      {{.partitions = {}, .features = {"a100"}, .nodes = {}}, known, false},
      {{.partitions = {}, .features = {"a100"}, .nodes = {}}, {}, false},
      {{.partitions = {}, .features = {}, .nodes = Hosts("node[01-04]")}, known, true},
      {{.partitions = {}, .features = {}, .nodes = Hosts("node[1-4]")}, known, false},
      {{.partitions = {}, .features = {}, .nodes = Hosts("node[01-04]")}, {}, false},
      {{.partitions = {"gpu"}, .features = {"ib"}, .nodes = Hosts("node[01-04]")}, known, true},
      {{.partitions = {"gpu"}, .features = {"eth"}, .nodes = Hosts("node[01-04]")}, known, false},
  };
  for (const auto& row : kRows) EXPECT_EQ(Holds(row.condition, row.context), row.holds) << &row - kRows;
}

TEST(SitePolicyTest, LaterBlocksWinKeyByKey) {
  SiteFile file;
  file.keys = WithClass(1);
  file.keys.deny = {{Say("NCCL_ALGO")}};
  file.keys.set["NCCL_DEBUG"] = Say("WARN");
  file.keys.set["NCCL_IB_TIMEOUT"] = Say("20");
  file.keys.profiles["small"]["NCCL_MIN_CTAS"] = Say("1");
  SitePolicy second = WithClass(2);
  second.set["NCCL_DEBUG"] = Say("INFO");
  second.profiles["small"]["NCCL_MAX_CTAS"] = Say("4");
  file.when.push_back(When({.partitions = {"gpu"}, .features = {}, .nodes = {}}, second));
  SitePolicy third = WithClass(3);
  third.deny.emplace();
  file.when.push_back(When({.partitions = {}, .features = {"ib"}, .nodes = {}}, third));

  EXPECT_EQ(Resolve(file, {}).tc->value, 1);
  EXPECT_EQ(Resolve(file, {.node = {}, .partition = "gpu", .features = {}}).tc->value, 2);
  const SitePolicy both = Resolve(file, {.node = {}, .partition = "gpu", .features = {{"ib"}}});
  EXPECT_EQ(both.tc->value, 3);
  EXPECT_EQ(both.set.at("NCCL_DEBUG").value, "INFO");
  EXPECT_EQ(both.set.at("NCCL_IB_TIMEOUT").value, "20");
  EXPECT_EQ(both.profiles.at("small").size(), 2U);
  EXPECT_TRUE(MaySet(both, "NCCL_ALGO"));
  EXPECT_FALSE(MaySet(Resolve(file, {}), "NCCL_ALGO"));
}

TEST(SitePolicyTest, MaySet) {
  const struct {
    std::vector<std::string> allow;
    std::vector<std::string> deny;
    const char* name;
    bool may;
  } kRows[] = {
      {{}, {}, "NCCL_IB_HCA", true},
      {{"NCCL_IB_*"}, {}, "NCCL_IB_HCA", true},
      {{"NCCL_IB_*"}, {}, "NCCL_SOCKET_IFNAME", false},
      {{"NCCL_IB_*", "NCCL_SOCKET_IFNAME"}, {}, "NCCL_SOCKET_IFNAME", true},
      {{}, {"NCCL_IB_TC"}, "NCCL_IB_TC", false},
      {{}, {"NCCL_IB_TC"}, "NCCL_IB_TC2", true},
      {{"NCCL_*"}, {"NCCL_IB_*"}, "NCCL_IB_HCA", false},
      {{"NCCL_*"}, {"NCCL_IB_*"}, "NCCL_NET", true},
      {{"NCCL_*"}, {}, "GLOO_SOCKET_IFNAME", false},
      {{}, {"*"}, "NCCL_IB_HCA", false},
  };
  for (const auto& row : kRows) {
    SitePolicy policy;
    policy.allow.emplace();
    policy.deny.emplace();
    for (const auto& glob : row.allow) policy.allow->push_back(Say(glob));
    for (const auto& glob : row.deny) policy.deny->push_back(Say(glob));
    EXPECT_EQ(MaySet(policy, row.name), row.may) << &row - kRows;
  }
}

TEST(SitePolicyTest, ForbiddenValuesAreLeftOut) {
  SiteFile file;
  file.keys.set["NCCL_IB_TC"] = Say("106");
  file.keys.profiles["p"]["NCCL_ALGO"] = Say("Ring");
  file.keys.profiles["p"]["NCCL_MIN_CTAS"] = Say("2");
  SitePolicy strict;
  strict.deny = {{Say("NCCL_IB_TC"), Say("NCCL_ALGO")}};
  file.when.push_back(When({.partitions = {"gpu"}, .features = {}, .nodes = {}}, strict));
  const SitePolicy policy = Resolve(file, {.node = {}, .partition = "gpu", .features = {}});
  EXPECT_TRUE(policy.set.empty());
  EXPECT_EQ(FindProfile(policy, "p")->size(), 1U);
  EXPECT_EQ(Resolve(file, {}).set.size(), 1U);
}

TEST(SitePolicyTest, OffIsTheOnlyModeThatTurnsOff) {
  for (const SiteMode mode : {SiteMode::kOff, SiteMode::kAuto, SiteMode::kExplain, SiteMode::kDryRun}) {
    SitePolicy policy;
    policy.mode = {.value = mode, .origin = {}};
    EXPECT_EQ(policy.IsOff(), mode == SiteMode::kOff) << ToText(mode);
  }
}

TEST(SitePolicyTest, UnknownProfileNamesTheOthers) {
  SitePolicy policy;
  EXPECT_EQ(FindProfile(policy, "x").error().ToString(),
            "no such profile in the site policy: got \"x\", expected no profile: this site has none");
  policy.profiles["large"];
  policy.profiles["small"];
  EXPECT_EQ(FindProfile(policy, "smal\n").error().ToString(),
            "no such profile in the site policy: got \"smal\\x0a\", expected large, small");
  EXPECT_EQ(FindProfile(policy, "").error().ToString(),
            "no such profile in the site policy: got \"\", expected large, small");
}

TEST(SitePolicyTest, PciPatterns) {
  const facts::PciAddress address{.domain = 0, .bus = 0x1a, .device = 2, .function = 1};
  EXPECT_TRUE((PciPattern{.domain = 0, .bus = {}, .device = {}, .function = {}}.Matches(address)));
  EXPECT_TRUE((PciPattern{.domain = 0, .bus = 0x1a, .device = {}, .function = {}}.Matches(address)));
  EXPECT_TRUE((PciPattern{.domain = 0, .bus = 0x1a, .device = 2, .function = 1}.Matches(address)));
  EXPECT_FALSE((PciPattern{.domain = 1, .bus = {}, .device = {}, .function = {}}.Matches(address)));
  EXPECT_FALSE((PciPattern{.domain = 0, .bus = 0x1b, .device = {}, .function = {}}.Matches(address)));
  EXPECT_FALSE((PciPattern{.domain = 0, .bus = 0x1a, .device = 3, .function = {}}.Matches(address)));
  EXPECT_FALSE((PciPattern{.domain = 0, .bus = 0x1a, .device = 2, .function = 0}.Matches(address)));
}

TEST(SitePolicyTest, OriginNamesKeyAndLine) {
  EXPECT_EQ((Origin{.key = "devices.exclude[2]", .line = 12}.ToString()), "site policy, line 12: devices.exclude[2]");
}

}  // namespace
}  // namespace nccl_tune::policy
