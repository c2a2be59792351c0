// SPDX-License-Identifier: Apache-2.0
#include "core/env/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/policy/test_nodes.h"

namespace nccl_tune::env {
namespace {

using policy::MakeServer;

Plan PlanFor(const facts::Node& node, const Environment& user) {
  return MakePlan("server1", policy::Assess(node), nccl::MergeSettings(user, {}));
}

std::string Show(const Environment& env) {
  std::string out;
  for (const auto& [name, value] : env) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

// NCCL's own variables only.
std::string ShowNccl(const Environment& env) {
  Environment out;
  for (const auto& [name, value] : env) {
    if (name.starts_with("NCCL_")) out.emplace(name, value);
  }
  return Show(out);
}

const Setting* Find(const Plan& plan, std::string_view name) {
  for (const auto& setting : plan.settings) {
    if (setting.decision.variable == name) return &setting;
  }
  return nullptr;
}

constexpr const char* kAll = "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==ens5f1";
constexpr const char* kSocketOnly = "NCCL_SOCKET_IFNAME==ens5f1";

// An outer step's plan that set these.
std::string Outer(const std::string& set) { return "{\"v\":1,\"set\":{" + set + "}}"; }
const std::string kOuterAll = Outer(R"("NCCL_IB_HCA":"=old:1","NCCL_IB_GID_INDEX":"9","NCCL_SOCKET_IFNAME":"=old0")");

TEST(MakePlanTest, TheUserWins) {
  const struct {
    const char* what;
    Environment user;
    const char* set;
  } rows[] = {
      {"nothing set", {}, kAll},
      {"other variables", {{"NCCL_DEBUG", "INFO"}, {"PATH", "/bin"}}, kAll},
      {"own interface", {{"NCCL_SOCKET_IFNAME", "eno1"}}, "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1"},
      {"own interface, empty", {{"NCCL_SOCKET_IFNAME", ""}}, "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1"},
      {"own ports", {{"NCCL_IB_HCA", "mlx5_0"}}, kSocketOnly},
      {"own ports, empty", {{"NCCL_IB_HCA", ""}}, kSocketOnly},
      {"own ports, equal to ours", {{"NCCL_IB_HCA", "=mlx5_2:1"}}, "NCCL_IB_GID_INDEX=3 NCCL_SOCKET_IFNAME==ens5f1"},
      {"own index", {{"NCCL_IB_GID_INDEX", "1"}}, "NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==ens5f1"},
      {"verbs off", {{"NCCL_IB_DISABLE", "1"}}, kSocketOnly},
      {"verbs off, as NCCL reads it", {{"NCCL_IB_DISABLE", " 0x1 "}}, kSocketOnly},
      {"verbs off by another number", {{"NCCL_IB_DISABLE", "2"}}, kSocketOnly},
      {"verbs on", {{"NCCL_IB_DISABLE", "0"}}, kAll},
      {"no number", {{"NCCL_IB_DISABLE", "true"}}, kAll},
      {"empty", {{"NCCL_IB_DISABLE", ""}}, kAll},
      {"sockets", {{"NCCL_NET", "Socket"}}, kSocketOnly},
      {"sockets in small letters", {{"NCCL_NET", "socket"}}, kSocketOnly},
      {"verbs by name", {{"NCCL_NET", "IB"}}, kAll},
      {"all of it",
       {{"NCCL_IB_HCA", "a"}, {"NCCL_IB_GID_INDEX", "0"}, {"NCCL_SOCKET_IFNAME", "b"}, {"NCCL_IB_DISABLE", "0"}},
       ""},
      {"a nested step",
       {{"NCCL_TUNE_PLAN", kOuterAll},
        {"NCCL_IB_HCA", "=old:1"},
        {"NCCL_IB_GID_INDEX", "9"},
        {"NCCL_SOCKET_IFNAME", "=old0"}},
       kAll},
      {"a nested step, one changed by the user",
       {{"NCCL_TUNE_PLAN", kOuterAll},
        {"NCCL_IB_HCA", "=old:1"},
        {"NCCL_IB_GID_INDEX", "9"},
        {"NCCL_SOCKET_IFNAME", "mine"}},
       "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1"},
      {"a nested step, ports changed by the user",
       {{"NCCL_TUNE_PLAN", kOuterAll},
        {"NCCL_IB_HCA", "mine"},
        {"NCCL_IB_GID_INDEX", "9"},
        {"NCCL_SOCKET_IFNAME", "=old0"}},
       kSocketOnly},
      {"a nested step, one removed by the user", {{"NCCL_TUNE_PLAN", kOuterAll}, {"NCCL_IB_GID_INDEX", "9"}}, kAll},
      {"a broken outer plan", {{"NCCL_TUNE_PLAN", "{"}, {"NCCL_IB_HCA", "=old:1"}}, kSocketOnly},
      {"an outer plan of a later version",
       {{"NCCL_TUNE_PLAN", R"({"v":2,"set":{"NCCL_IB_HCA":"=old:1"}})"}, {"NCCL_IB_HCA", "=old:1"}},
       kSocketOnly},
      {"an empty outer plan", {{"NCCL_TUNE_PLAN", ""}}, kAll},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ShowNccl(ValuesOf(PlanFor(MakeServer(), row.user))), row.set) << row.what;
    EXPECT_EQ(ShowNccl(ValuesOf(PlanFor(MakeServer(), row.user))), row.set) << row.what << ", again";
  }
}

TEST(MakePlanTest, SaysWhatHappenedToEachVariable) {
  const Plan plan = PlanFor(MakeServer(), {{"NCCL_IB_HCA", "mlx5_0"}});
  EXPECT_EQ(Find(plan, "NCCL_IB_HCA")->action, Action::kKeep);
  EXPECT_EQ(Find(plan, "NCCL_IB_HCA")->user_value, "mlx5_0");
  EXPECT_EQ(Find(plan, "NCCL_IB_GID_INDEX")->action, Action::kYielded);
  EXPECT_EQ(Find(plan, "NCCL_IB_GID_INDEX")->yielded_to,
            "you have set NCCL_IB_HCA, and this was computed for another value");
  EXPECT_EQ(Find(plan, "NCCL_IB_DISABLE")->action, Action::kUnset);
  EXPECT_EQ(Find(plan, "NCCL_SOCKET_IFNAME")->action, Action::kSet);
  const struct {
    Environment user;
    const char* yielded_to;
  } rows[] = {
      {{{"NCCL_IB_DISABLE", "1"}}, "you have set NCCL_IB_DISABLE=1"},
      {{{"NCCL_IB_DISABLE", "0x1"}}, "you have set NCCL_IB_DISABLE=0x1"},
      {{{"NCCL_NET", "SOCKET"}}, "you have set NCCL_NET=SOCKET"},
  };
  for (const auto& row : rows) {
    const Plan off = PlanFor(MakeServer(), row.user);
    EXPECT_EQ(Find(off, "NCCL_IB_HCA")->yielded_to, row.yielded_to);
    EXPECT_EQ(Find(off, "NCCL_IB_GID_INDEX")->yielded_to, row.yielded_to);
  }
}

// A trap sets NCCL_IB_DISABLE=1; a user who names ports means to use them.
TEST(MakePlanTest, DoesNotTurnOffPortsThatTheUserChose) {
  facts::Node node = MakeServer();
  node.hcas[0].ports[0].gids.resize(2);
  EXPECT_EQ(ShowNccl(ValuesOf(PlanFor(node, {}))), "NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME==eno1");
  EXPECT_EQ(ShowNccl(ValuesOf(PlanFor(node, {{"NCCL_IB_HCA", "mlx5_2"}}))), "NCCL_SOCKET_IFNAME==eno1");
}

TEST(MakePlanTest, WhatFollowsGoesAlong) {
  facts::Node node = MakeServer();
  node.gpus.resize(1);
  const std::string all =
      "GLOO_SOCKET_IFNAME=ens5f1 NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==ens5f1 "
      "NVSHMEM_HCA_LIST=mlx5_2:1 NVSHMEM_IB_GID_INDEX=3 TP_SOCKET_IFNAME=ens5f1";
  const struct {
    const char* what;
    Environment user;
    std::string set;
  } rows[] = {
      {"nothing set", {}, all},
      {"own interface",
       {{"NCCL_SOCKET_IFNAME", "eno1"}},
       "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NVSHMEM_HCA_LIST=mlx5_2:1 NVSHMEM_IB_GID_INDEX=3"},
      {"own interface, equal to ours",
       {{"NCCL_SOCKET_IFNAME", "=ens5f1"}},
       "GLOO_SOCKET_IFNAME=ens5f1 NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NVSHMEM_HCA_LIST=mlx5_2:1 "
       "NVSHMEM_IB_GID_INDEX=3 TP_SOCKET_IFNAME=ens5f1"},
      {"own ports",
       {{"NCCL_IB_HCA", "mlx5"}},
       "GLOO_SOCKET_IFNAME=ens5f1 NCCL_SOCKET_IFNAME==ens5f1 TP_SOCKET_IFNAME=ens5f1"},
      {"steered by address",
       {{"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"}},
       "GLOO_SOCKET_IFNAME=ens5f1 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==ens5f1 NVSHMEM_HCA_LIST=mlx5_2:1 "
       "TP_SOCKET_IFNAME=ens5f1"},
      {"a mapping for NVSHMEM",
       {{"NVSHMEM_HCA_PE_MAPPING", "mlx5_2:1:1"}},
       "GLOO_SOCKET_IFNAME=ens5f1 NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==ens5f1 "
       "TP_SOCKET_IFNAME=ens5f1"},
      {"sockets over IPv6",
       {{"NCCL_SOCKET_FAMILY", "AF_INET6"}},
       "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NVSHMEM_HCA_LIST=mlx5_2:1 NVSHMEM_IB_GID_INDEX=3"},
      {"sockets over IPv4", {{"NCCL_SOCKET_FAMILY", "AF_INET"}}, all},
      {"a family that NCCL ignores", {{"NCCL_SOCKET_FAMILY", "af_inet6"}}, all},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(ValuesOf(PlanFor(node, row.user))), row.set) << row.what;
  const Plan family = PlanFor(node, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}});
  EXPECT_EQ(Find(family, "NCCL_SOCKET_IFNAME")->yielded_to,
            "you have set NCCL_SOCKET_FAMILY=AF_INET6, and ens5f1 has no such address");
  EXPECT_EQ(Find(family, "GLOO_SOCKET_IFNAME")->yielded_to, "NCCL_SOCKET_IFNAME is left unset, and this goes with it");
  EXPECT_EQ(Find(PlanFor(node, {{"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"}}), "NCCL_IB_GID_INDEX")->yielded_to,
            "you have set NCCL_IB_ADDR_RANGE, which settles the same");
}

policy::SitePolicy MakeSite() {
  policy::SitePolicy site;
  const auto at = [](int line, const char* key) { return policy::Origin{.key = key, .line = line}; };
  site.set["NCCL_IB_TIMEOUT"] = {.value = "22", .origin = at(3, "set.NCCL_IB_TIMEOUT")};
  site.tc = {.value = 106, .origin = at(7, "traffic_class.tc")};
  site.sl = {.value = 3, .origin = at(8, "traffic_class.sl")};
  return site;
}

std::string SetBySite(const policy::SitePolicy& site, const Environment& user, const facts::Node& node = MakeServer()) {
  return ShowNccl(ValuesOf(MakePlan("", policy::Assess(node, {.site = site}), nccl::MergeSettings(user, {}))));
}

TEST(MakePlanTest, TheSitesPolicy) {
  const std::string ours = "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 ";
  const std::string own = " NCCL_IB_TIMEOUT=22 NCCL_SOCKET_IFNAME==ens5f1";
  EXPECT_EQ(SetBySite(MakeSite(), {}), ours + "NCCL_IB_SL=3 NCCL_IB_TC=106" + own);
  EXPECT_EQ(SetBySite(MakeSite(), {{"NCCL_IB_TC", "0"}}), ours + "NCCL_IB_SL=3" + own) << "the user wins";
  facts::Node ib = MakeServer();
  ib.hcas = {policy::MakeIb("mlx5_0", "0000:01:00.0", 400)};
  EXPECT_EQ(SetBySite(MakeSite(), {}, ib),
            "NCCL_IB_HCA==mlx5_0:1 NCCL_IB_SL=3 NCCL_IB_TIMEOUT=22 NCCL_SOCKET_IFNAME==eno1")
      << "a traffic class is for RoCE";
  facts::Node none = MakeServer();
  none.hcas.clear();
  EXPECT_EQ(SetBySite(MakeSite(), {}, none), "NCCL_IB_TIMEOUT=22 NCCL_SOCKET_IFNAME==eno1");

  policy::SitePolicy site = MakeSite();
  site.deny = std::vector<policy::Stated<std::string>>{{.value = "NCCL_IB_TC", .origin = {}},
                                                       {.value = "NCCL_SOCKET_*", .origin = {}}};
  EXPECT_EQ(SetBySite(site, {}), ours + "NCCL_IB_SL=3 NCCL_IB_TIMEOUT=22");
  const Plan denied = MakePlan("", policy::Assess(MakeServer(), {.site = site}), {});
  EXPECT_EQ(Find(denied, "NCCL_SOCKET_IFNAME")->yielded_to, "the site's policy does not let it be set");
  EXPECT_EQ(Find(denied, "GLOO_SOCKET_IFNAME")->action, Action::kYielded);

  site = {};
  site.set["NCCL_IB_HCA"] = {.value = "=mlx5_0:1", .origin = {.key = "set.NCCL_IB_HCA", .line = 2}};
  EXPECT_EQ(SetBySite(site, {}), "NCCL_IB_HCA==mlx5_0:1 NCCL_SOCKET_IFNAME==ens5f1");
  const Plan told = MakePlan("", policy::Assess(MakeServer(), {.site = site}), {});
  EXPECT_EQ(Find(told, "NCCL_IB_HCA")->origin, "site policy, line 2: set.NCCL_IB_HCA");
  EXPECT_EQ(Find(told, "NCCL_IB_GID_INDEX")->yielded_to,
            "the site policy, line 2: set.NCCL_IB_HCA sets NCCL_IB_HCA, and this was computed for another value");
  EXPECT_EQ(SetBySite(site, {{"NCCL_IB_HCA", "=mlx5_2:1"}}), "NCCL_SOCKET_IFNAME==ens5f1");
}

facts::Node MakeLossless() {
  facts::Node node = MakeServer();
  for (auto& netdev : node.netdevs) {
    if (netdev.name == "ens5f1") netdev.dcb = facts::Dcb{.pfc = 8, .dscp = {{26, 3}}, .trust = {}};
  }
  return node;
}

TEST(MakePlanTest, TheTrafficClassOfTheSiteAndOfTheUserStandsOverTheLosslessOne) {
  policy::SitePolicy tc;
  tc.tc = {.value = 98, .origin = {.key = "traffic_class.tc", .line = 7}};
  policy::SitePolicy both = tc;
  both.fifo_tc = {.value = 0, .origin = {.key = "traffic_class.fifo_tc", .line = 8}};
  policy::SitePolicy denied;
  denied.deny = std::vector<policy::Stated<std::string>>{{.value = "NCCL_IB_TC", .origin = {}}};
  const struct {
    const char* what;
    policy::SitePolicy site;
    Environment user;
    const char* tc;
    const char* fifo;
  } rows[] = {
      {"nobody else", {}, {}, "106", "106"},
      {"the site's", tc, {}, "98", "-"},
      {"both the site's", both, {}, "98", "0"},
      {"denied", denied, {}, "-", "-"},
      {"the user's", {}, {{"NCCL_IB_TC", "98"}}, "-", "-"},
      {"the user's, the same", {}, {{"NCCL_IB_TC", "106"}}, "-", "106"},
      {"the user's over the site's", both, {{"NCCL_IB_TC", "1"}}, "-", "0"},
      {"the user's other class", {}, {{"NCCL_IB_FIFO_TC", "98"}}, "106", "-"},
      {"the user's ports", {}, {{"NCCL_IB_HCA", "mlx5_9"}}, "-", "-"},
      {"the user's ports, the site's class", both, {{"NCCL_IB_HCA", "mlx5_9"}}, "98", "0"},
      {"no verbs", {}, {{"NCCL_IB_DISABLE", "1"}}, "-", "-"},
  };
  for (const auto& row : rows) {
    const auto node = MakeLossless();
    const auto plan = MakePlan("", policy::Assess(node, {.site = row.site}), nccl::MergeSettings(row.user, {}));
    const auto values = ValuesOf(plan);
    EXPECT_EQ(base::Lookup(values, "NCCL_IB_TC").value_or("-"), row.tc) << row.what;
    EXPECT_EQ(base::Lookup(values, "NCCL_IB_FIFO_TC").value_or("-"), row.fifo) << row.what;
    const auto now = [&](const std::string& name) { return base::Lookup(row.user, name); };
    EXPECT_EQ(Show(StillRight(values, ParsePlan(*PlanToJson(plan))->kept, now)), Show(values)) << row.what;
  }
}

// NCCL_TUNE_PLAN stands in the environment, where anyone may write.
// What the user's option asks for: `asked` as NAME=VALUE, `left_out` as names.
Plan PlanAsked(const Environment& asked, const std::set<std::string>& left_out, const Environment& user,
               policy::SitePolicy site = {}) {
  const auto node = MakeServer();
  policy::Preferences preferences{.site = std::move(site)};
  for (const auto& [name, value] : asked) preferences.asked[name] = value;
  preferences.left_out = left_out;
  return MakePlan("", policy::Assess(node, preferences), nccl::MergeSettings(user, {}));
}

TEST(MakePlanTest, TheUsersOptionStandsOverTheEnvironmentAndTheSite) {
  policy::SitePolicy site;
  site.set["NCCL_IB_TC"] = {.value = "8", .origin = {.key = "set.NCCL_IB_TC", .line = 2}};
  site.set["NCCL_ALGO"] = {.value = "Tree", .origin = {.key = "set.NCCL_ALGO", .line = 3}};
  const auto plan = PlanAsked({{"NCCL_IB_TC", "106"}}, {"NCCL_ALGO", "NCCL_PROTO"},
                              {{"NCCL_IB_TC", "1"}, {"NCCL_ALGO", "Ring"}, {"NCCL_DEBUG", "INFO"}}, site);
  EXPECT_EQ(ValuesOf(plan).at("NCCL_IB_TC"), "106");
  EXPECT_FALSE(ValuesOf(plan).contains("NCCL_ALGO"));
  EXPECT_FALSE(plan.user.contains("NCCL_ALGO"));
  EXPECT_TRUE(plan.user.contains("NCCL_DEBUG"));
  EXPECT_EQ(plan.forced, std::set<std::string>{"NCCL_IB_TC"});
  EXPECT_EQ(plan.removed, (std::set<std::string>{"NCCL_ALGO", "NCCL_PROTO"}));
  const auto summary = ParsePlan(*PlanToJson(plan));
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->forced, plan.forced);
  EXPECT_EQ(summary->removed, plan.removed);
}

TEST(MakePlanTest, WhatGoesWithAnOptionsValue) {
  const struct {
    Environment asked;
    std::set<std::string> left_out;
    const char* variable;
    const char* yielded_to;
  } kRows[] = {
      {{{"NCCL_IB_HCA", "=mlx5_0:1"}},
       {},
       "NCCL_IB_GID_INDEX",
       "--nccl-tune sets NCCL_IB_HCA, and this was computed for another value"},
      {{}, {"NCCL_IB_HCA"}, "NCCL_IB_HCA", "you ask for it to be left unset"},
      {{}, {"NCCL_IB_HCA"}, "NCCL_IB_GID_INDEX", "NCCL_IB_HCA is left unset, and this goes with it"},
      {{{"NCCL_IB_DISABLE", "1"}}, {}, "NCCL_IB_HCA", "--nccl-tune sets NCCL_IB_DISABLE=1"},
      {{{"NCCL_NET", "Socket"}}, {}, "NCCL_IB_HCA", "--nccl-tune sets NCCL_NET=Socket"},
      {{{"NCCL_SOCKET_FAMILY", "AF_INET6"}},
       {},
       "NCCL_SOCKET_IFNAME",
       "--nccl-tune sets NCCL_SOCKET_FAMILY=AF_INET6, and ens5f1 has no such address"},
      {{}, {"NCCL_SOCKET_IFNAME"}, "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME is left unset, and this goes with it"},
  };
  for (const auto& row : kRows) {
    const auto plan = PlanAsked(row.asked, row.left_out, {});
    const auto found = std::find_if(plan.settings.begin(), plan.settings.end(),
                                    [&](const Setting& s) { return s.decision.variable == row.variable; });
    ASSERT_NE(found, plan.settings.end());
    EXPECT_EQ(found->action, Action::kYielded) << row.variable;
    EXPECT_EQ(found->yielded_to, row.yielded_to);
  }
}

TEST(MakePlanTest, AFilesSettingIsOverriddenButCannotBeTakenAway) {
  const auto node = MakeServer();
  nccl::ConfFile file{
      .path = "/etc/nccl.conf", .settings = {{"NCCL_ALGO", "Ring", 1}, {"NCCL_IB_TC", "1", 2}}, .remarks = {}};
  policy::Preferences preferences;
  preferences.asked["NCCL_IB_TC"] = "106";
  preferences.left_out = {"NCCL_ALGO"};
  const auto plan = MakePlan("", policy::Assess(node, preferences), nccl::MergeSettings({}, {file}));
  EXPECT_EQ(ValuesOf(plan).at("NCCL_IB_TC"), "106");
  EXPECT_EQ(plan.user.at("NCCL_ALGO"), "Ring");
}

TEST(MakePlanTest, ASiteThatTurnsTheTransportOffGetsNoPorts) {
  policy::SitePolicy site;
  site.set["NCCL_IB_DISABLE"] = {.value = "1", .origin = {.key = "set.NCCL_IB_DISABLE", .line = 2}};
  const auto values = ValuesOf(PlanAsked({}, {}, {}, site));
  EXPECT_EQ(values.at("NCCL_IB_DISABLE"), "1");
  EXPECT_FALSE(values.contains("NCCL_IB_HCA"));
}

TEST(MakePlanTest, APlanOfAnotherTakesNothingElseAway) {
  const std::string lie = Outer(R"("PATH":"/bin","HOME":"/root","NCCL_IB_HCA":"=old:1","GLOO_SOCKET_IFNAME":"old0")");
  const Plan plan = PlanFor(MakeServer(), {{"NCCL_TUNE_PLAN", lie},
                                           {"PATH", "/bin"},
                                           {"HOME", "/root"},
                                           {"NCCL_IB_HCA", "=old:1"},
                                           {"GLOO_SOCKET_IFNAME", "old0"}});
  EXPECT_TRUE(plan.user.contains("PATH") && plan.user.contains("HOME"));
  EXPECT_FALSE(plan.user.contains("NCCL_IB_HCA") || plan.user.contains("GLOO_SOCKET_IFNAME"));
  EXPECT_FALSE(IsTunable("PATH") || IsTunable("LD_PRELOAD") || IsTunable(""));
}

// What a container image brings after the plan was made.
TEST(StillRightTest, WhatIsSetByNowIsNotOurs) {
  const Environment set = {{"NCCL_IB_HCA", "=mlx5_2:1"},     {"NCCL_IB_GID_INDEX", "3"},
                           {"NCCL_SOCKET_IFNAME", "=eth0"},  {"GLOO_SOCKET_IFNAME", "eth0"},
                           {"NVSHMEM_HCA_LIST", "mlx5_2:1"}, {"NVSHMEM_IB_GID_INDEX", "3"}};
  const struct {
    const char* what;
    Environment now;
    std::string right;
  } rows[] = {
      {"nothing", {}, Show(set)},
      {"others", {{"PATH", "/bin"}, {"NCCL_DEBUG", "INFO"}}, Show(set)},
      {"the interface",
       {{"NCCL_SOCKET_IFNAME", "eth1"}},
       "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NVSHMEM_HCA_LIST=mlx5_2:1 NVSHMEM_IB_GID_INDEX=3"},
      {"the interface, the same",
       {{"NCCL_SOCKET_IFNAME", "=eth0"}},
       "GLOO_SOCKET_IFNAME=eth0 NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NVSHMEM_HCA_LIST=mlx5_2:1 "
       "NVSHMEM_IB_GID_INDEX=3"},
      {"a sister",
       {{"GLOO_SOCKET_IFNAME", "eth1"}},
       "NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==eth0 NVSHMEM_HCA_LIST=mlx5_2:1 "
       "NVSHMEM_IB_GID_INDEX=3"},
      {"the ports", {{"NCCL_IB_HCA", "mlx5_7"}}, "GLOO_SOCKET_IFNAME=eth0 NCCL_SOCKET_IFNAME==eth0"},
      {"an opposite, and what follows it",
       {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}},
       "GLOO_SOCKET_IFNAME=eth0 NCCL_IB_HCA==mlx5_2:1 NCCL_SOCKET_IFNAME==eth0 NVSHMEM_HCA_LIST=mlx5_2:1"},
  };
  for (const auto& row : rows) {
    const auto now = [&](const std::string& name) { return base::Lookup(row.now, name); };
    EXPECT_EQ(Show(StillRight(set, {}, now)), row.right) << row.what;
  }
}

// What the user had set already was known to the plan.
TEST(StillRightTest, WhatWasKeptSpeaksAgainstNothing) {
  const Environment set = {{"NCCL_IB_GID_INDEX", "3"}, {"NVSHMEM_HCA_LIST", "mlx5_2:1"}};
  const Environment kept = {{"NCCL_IB_HCA", "=mlx5_2:1"}};
  const auto right = [&](const Environment& now) {
    return Show(StillRight(set, kept, [&](const std::string& name) { return base::Lookup(now, name); }));
  };
  EXPECT_EQ(right(kept), Show(set));
  EXPECT_EQ(right({{"NCCL_IB_HCA", "=mlx5_7:1"}}), "") << "changed since";
  EXPECT_EQ(right({{"NCCL_IB_HCA", ""}}), "") << "an empty value is a value";
  EXPECT_EQ(right({}), Show(set));
}

TEST(PlanToJsonTest, IsThePublishedForm) {
  const auto text = PlanToJson(PlanFor(MakeServer(), {{"NCCL_IB_GID_INDEX", "3"}}));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(
      *text,
      R"({"v":1,"node":"server1","set":{"NCCL_IB_HCA":"=mlx5_2:1","NCCL_SOCKET_IFNAME":"=ens5f1","GLOO_SOCKET_IFNAME":"ens5f1",)"
      R"("TP_SOCKET_IFNAME":"ens5f1"},)"
      R"("kept":{"NCCL_IB_GID_INDEX":"3"},)"
      R"("ports":[{"hca":"mlx5_2","port":1,"link":"Ethernet","gbps":25.0,"netdev":"ens5f1","gid":3}],)"
      R"("if":"ens5f1","addr":"172.20.0.11",)"
      R"("why":{"NCCL_IB_HCA":"every port is usable: 1 x 25 Gb/s RoCE",)"
      R"("NCCL_SOCKET_IFNAME":"the interface of mlx5_2:1, the only selected port: the nodes should meet in )"
      R"-(172.20.0.0/24 (inferred on this node)",)-"
      R"("GLOO_SOCKET_IFNAME":"the interface of NCCL_SOCKET_IFNAME; Gloo takes exact names only",)"
      R"("TP_SOCKET_IFNAME":"the interface of NCCL_SOCKET_IFNAME; TensorPipe takes exact names only"}})");
}

TEST(PlanToJsonTest, IsReadBack) {
  const Plan plan = PlanFor(MakeServer(), {{"NCCL_IB_GID_INDEX", "odd \"\\\n value"}});
  const auto got = ParsePlan(PlanToJson(plan).value());
  ASSERT_TRUE(got.ok()) << got.error().ToString();
  EXPECT_EQ(got->node, "server1");
  EXPECT_EQ(got->set, ValuesOf(plan));
  EXPECT_EQ(Show(got->kept), "NCCL_IB_GID_INDEX=odd \"\\\n value");
  EXPECT_EQ(got->ports, plan.ports);
  EXPECT_EQ(got->interface, "ens5f1");
  EXPECT_EQ(got->address, "172.20.0.11");
  const auto empty = ParsePlan(PlanToJson(MakePlan("", policy::Assess(facts::Node{}), {})).value());
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->node.empty());
  EXPECT_TRUE(empty->set.empty());
  EXPECT_TRUE(empty->ports.empty());
  EXPECT_EQ(empty->interface, std::nullopt);
  EXPECT_EQ(empty->address, std::nullopt);
}

TEST(PlanToJsonTest, DropsReasonsBeforeValues) {
  Plan plan = PlanFor(MakeServer(), {});
  plan.settings[1].decision.reason = std::string(kPlanLimit, 'r');
  const auto without = PlanToJson(plan);
  ASSERT_TRUE(without.ok());
  EXPECT_LE(without->size(), kPlanLimit);
  EXPECT_EQ(without->find("\"why\""), std::string::npos);
  EXPECT_EQ(ParsePlan(*without)->set, ValuesOf(plan));
  // As long as allowed: grow a value byte by byte to the limit and over it.
  plan.settings[1].decision.value =
      "=" + std::string(kPlanLimit - without->size() + std::string_view("mlx5_2:1").size(), 'x');
  const auto full = PlanToJson(plan);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->size(), kPlanLimit);
  EXPECT_TRUE(ParsePlan(*full).ok());
  *plan.settings[1].decision.value += 'x';
  const auto over = PlanToJson(plan);
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().code, base::Code::kInternal);
  EXPECT_EQ(over.error().ToString(),
            "NCCL_TUNE_PLAN: plan too long for a variable: got \"8193 bytes\", expected at most 8192");
}

TEST(PlanToJsonTest, DropsWhatTheUserHasSetLast) {
  Plan plan = PlanFor(MakeServer(), {{"NCCL_SOCKET_IFNAME", std::string(kPlanLimit, 'x')}});
  const auto json = PlanToJson(plan);
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  const auto got = ParsePlan(*json);
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->kept.empty());
  EXPECT_EQ(got->set, ValuesOf(plan));
  EXPECT_FALSE(got->set.empty());
}

TEST(ParsePlanTest, SkipsWhatItDoesNotKnow) {
  const auto got =
      ParsePlan(R"({"new":[1],"v":1,"set":{"A":"b"},"ports":[{"hca":"m","port":2,"new":{}}],"node":7,"if":null})");
  ASSERT_TRUE(got.ok()) << got.error().ToString();
  EXPECT_EQ(Show(got->set), "A=b");
  ASSERT_EQ(got->ports.size(), 1u);
  EXPECT_EQ(got->ports[0].hca, "m");
  EXPECT_EQ(got->ports[0].port, 2);
  EXPECT_EQ(got->ports[0].gbps, std::nullopt);
  EXPECT_EQ(got->node, "");
  EXPECT_EQ(got->interface, std::nullopt);
}

TEST(ParsePlanTest, RefusesWhatIsNoPlan) {
  const auto with = [](const char* members) { return std::string("{\"v\":1,") + members + "}"; };
  const std::string deep = std::string(70, '[') + std::string(70, ']');
  const struct {
    std::string text;
    const char* message;
  } rows[] = {
      {"", "NCCL_TUNE_PLAN: not a plan"},
      {"x", "NCCL_TUNE_PLAN: not a plan: got \"x\""},
      {"{", "NCCL_TUNE_PLAN: not a plan: got \"{\""},
      {"{\"v\":1}}", "NCCL_TUNE_PLAN: not a plan"},
      {"{\"v\":1,}", "NCCL_TUNE_PLAN: not a plan"},
      {"[]", "NCCL_TUNE_PLAN: not a plan: got \"[]\""},
      {"null", "NCCL_TUNE_PLAN: not a plan"},
      {"1", "NCCL_TUNE_PLAN: not a plan"},
      {"\"{}\"", "NCCL_TUNE_PLAN: not a plan"},
      {std::string("{\"v\":1}\0", 8), "NCCL_TUNE_PLAN: not a plan"},
      {with("\"node\":\"\xff\""), "NCCL_TUNE_PLAN: not a plan"},
      {with(("\"new\":" + deep).c_str()), "NCCL_TUNE_PLAN: not a plan"},
      {with("\"forced\":{}"), "NCCL_TUNE_PLAN: member \"forced\" is no array"},
      {with("\"removed\":\"A\""), "NCCL_TUNE_PLAN: member \"removed\" is no array"},
      {with("\"removed\":[1]"), "NCCL_TUNE_PLAN: a name in \"removed\" is no text"},
      {std::string(100000, '['), "NCCL_TUNE_PLAN: plan too long: got \"100000 bytes\""},
      {std::string(8193, ' '), "NCCL_TUNE_PLAN: plan too long: got \"8193 bytes\""},
      {"{}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {"{\"v\":2}", "NCCL_TUNE_PLAN: unknown version of the plan: got \"2\""},
      {"{\"v\":0}", "NCCL_TUNE_PLAN: unknown version of the plan: got \"0\""},
      {"{\"v\":-1}", "NCCL_TUNE_PLAN: unknown version of the plan: got \"-1\""},
      {"{\"v\":\"1\"}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {"{\"v\":1.0}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {"{\"v\":null}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {"{\"v\":[1]}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {"{\"v\":18446744073709551617}", "NCCL_TUNE_PLAN: unknown version of the plan"},
      {with("\"set\":[]"), "NCCL_TUNE_PLAN: member \"set\" is no object"},
      {with("\"set\":\"A=b\""), "NCCL_TUNE_PLAN: member \"set\" is no object"},
      {with("\"set\":{\"A\":1}"), "NCCL_TUNE_PLAN: value of A is no text"},
      {with("\"set\":{\"A\":null}"), "NCCL_TUNE_PLAN: value of A is no text"},
      {with("\"set\":{\"\\u001b\":{}}"), "NCCL_TUNE_PLAN: value of \\x1b is no text"},
      {with("\"kept\":7"), "NCCL_TUNE_PLAN: member \"kept\" is no object"},
      {with("\"kept\":{\"A\":[\"b\"]}"), "NCCL_TUNE_PLAN: value of A is no text"},
      {with("\"ports\":{}"), "NCCL_TUNE_PLAN: member \"ports\" is no array"},
      {with("\"ports\":{\"a\":{\"hca\":\"m\",\"port\":1}}"), "NCCL_TUNE_PLAN: member \"ports\" is no array"},
      {with("\"ports\":\"mlx5_2\""), "NCCL_TUNE_PLAN: member \"ports\" is no array"},
      {with("\"ports\":[\"mlx5_2\"]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{}]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{\"hca\":\"m\"}]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{\"hca\":5,\"port\":1}]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{\"hca\":\"m\",\"port\":\"1\"}]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{\"hca\":\"m\",\"port\":-1}]"), "NCCL_TUNE_PLAN: port without hca or port"},
      {with("\"ports\":[{\"hca\":\"m\",\"port\":4294967297}]"), "NCCL_TUNE_PLAN: port without hca or port"},
  };
  for (const auto& row : rows) {
    const auto got = ParsePlan(row.text);
    ASSERT_FALSE(got.ok()) << row.text.substr(0, 60);
    EXPECT_TRUE(got.error().ToString().starts_with(row.message))
        << got.error().ToString() << "\nfor " << row.text.substr(0, 60);
    EXPECT_EQ(got.error().code, base::Code::kInvalidInput);
  }
}

}  // namespace
}  // namespace nccl_tune::env
