// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/nccl/conf_file.h"
#include "core/policy/decide.h"
#include "core/policy/test_nodes.h"

namespace nccl_tune::report {
namespace {

Explanation PlanFor(const facts::Node& node, const env::Environment& user) {
  return Explain(node, env::MakePlan("server1", policy::Assess(node), nccl::MergeSettings(user, {})),
                 nccl::kAssumedVersion);
}

// The scene's server, with one more port that is down.
facts::Node Server() {
  facts::Node node = policy::MakeServer();
  node.hcas.push_back(policy::MakeRoce("mlx5_0", "0000:03:00.0", 25, "ens11f0", "172.20.1.11"));
  node.hcas.back().ports[0].state = facts::PortState::kDown;
  return node;
}

// Every line fits the terminal, unless one word alone does not.
void ExpectNarrow(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos) << "no line end at the end";
    std::string_view line = std::string_view(text).substr(at, end - at);
    EXPECT_FALSE(line.ends_with(' ')) << line;
    // One word may be longer than what is left beside the label.
    EXPECT_TRUE(line.size() <= 80 || line.size() - line.rfind(' ') > 60) << line;
    at = end + 1;
  }
}

TEST(ExplainTextTest, OneMachine) {
  auto all = PlanFor(Server(), {});
  all.notes = {{.where = "sys/x", .what = "Permission denied"}};
  const auto got = ExplainText(all);
  EXPECT_EQ(got, R"(server1
NCCL_IB_HCA         =mlx5_2:1
    why   the only usable port: 1 x 25 Gb/s RoCE
    from  sys/class/infiniband/mlx5_2/ports/1/state = 4: ACTIVE
    not   mlx5_0:1: port is DOWN
    for   NCCL 2.18 to 2.32
NCCL_IB_GID_INDEX   3
    why   RoCE v2 entry of 172.20.0.11 on ens5f1
    from  sys/class/infiniband/mlx5_2/ports/1/gids/3 = 172.20.0.11 RoCE v2
    not   index 0, index 1: link-local: does not leave the link
    not   index 2: RoCE v1: not routed
    for   NCCL 2.18 to 2.32
NCCL_SOCKET_IFNAME  =ens5f1
    why   the interface of mlx5_2:1, the only selected port: the nodes should
          meet in 172.20.0.0/24 (inferred on this node)
    from  interface ens5f1 = 172.20.0.11/24
    not   eno1: not the interface of mlx5_2:1
    for   NCCL 2.18 to 2.32
GLOO_SOCKET_IFNAME  ens5f1
    why   the interface of NCCL_SOCKET_IFNAME; Gloo takes exact names only
    from  interface ens5f1 = 172.20.0.11/24
TP_SOCKET_IFNAME    ens5f1
    why   the interface of NCCL_SOCKET_IFNAME; TensorPipe takes exact names only
    from  interface ens5f1 = 172.20.0.11/24
left unset
          NCCL_IB_DISABLE: RDMA ports are usable
          NCCL_IB_ADDR_FAMILY, NCCL_IB_ADDR_RANGE: the index settles it
          NCCL_IB_QPS_PER_CONNECTION: the selected ports are no bonds
          NCCL_NET: only --nccl-tune=strict or the site's policy sets it
          NCCL_CROSS_NIC: not a rail for each GPU, so a ring may have to change
          rails
          NVSHMEM_HCA_LIST, NVSHMEM_IB_GID_INDEX, NVSHMEM_IB_ADDR_FAMILY,
          NVSHMEM_IB_ADDR_RANGE: NVSHMEM needs an NVIDIA GPU, and none is seen
          here
          UCX_NET_DEVICES, OMPI_MCA_btl_tcp_if_include: MPI's variables are set
          with --nccl-tune=mpi only
without nccl-tune
    NCCL  2.28.9, assumed: none was found
    port  mlx5_2:1 with GID 3, 172.20.0.11
    meets eno1, 10.0.0.11
not read
    sys/x: Permission denied
)");
  ExpectNarrow(got);
}

TEST(ExplainTextTest, WhatTheUserHasSet) {
  const struct {
    env::Environment user;
    const char* text;
  } rows[] = {
      {{{"NCCL_IB_HCA", "mlx5_0"}},
       "NCCL_IB_HCA         mlx5_0 (yours, kept)\n    wrong mlx5_0:1: its port is not active, so NCCL skips it\n    "
       "wrong "
       "it leaves NCCL no port, and NCCL goes on over sockets without a word\n    why   your value wins; ours would be "
       "=mlx5_2:1: the only usable "
       "port: 1 x 25\n          Gb/s RoCE\n"},
      {{{"NCCL_IB_HCA", "mlx5_0"}},
       "NCCL_IB_GID_INDEX   (left unset)\n    why   you have set NCCL_IB_HCA, and this was computed for "
       "another value\n"},
      {{{"NCCL_IB_GID_INDEX", "3"}},
       "NCCL_IB_GID_INDEX   3 (yours, kept)\n    why   your value wins, and it is ours too: RoCE v2 entry of "
       "172.20.0.11 on\n          ens5f1\n"},
      {{{"NCCL_IB_DISABLE", "0"}},
       "NCCL_IB_DISABLE     0 (yours, kept)\n    why   your value wins; we would leave it unset: RDMA ports are "
       "usable\n"},
      {{{"NCCL_NET", "Socket"}}, "NCCL_IB_HCA         (left unset)\n    why   you have set NCCL_NET=Socket\n"},
      {{{"NCCL_SOCKET_IFNAME", "a\x1b[31m\nb"}}, "NCCL_SOCKET_IFNAME  a\\x1b[31m\\x0ab (yours, kept)\n"},
      {{{"NCCL_SOCKET_IFNAME", ""}}, "NCCL_SOCKET_IFNAME  (yours, kept)\n"},
  };
  for (const auto& row : rows) {
    const auto got = ExplainText(PlanFor(Server(), row.user));
    EXPECT_NE(got.find(row.text), std::string::npos) << row.text << "\nin\n" << got;
    ExpectNarrow(got);
    ExpectNarrow(SummaryText(PlanFor(Server(), row.user), "nccl-tune: server1: "));
  }
}

// A file is not what "unset" reaches.
TEST(ExplainTextTest, HintsForWhatAFileHasSet) {
  const nccl::ConfFile conf{
      .path = "/root/.nccl.conf", .settings = {{.name = "NCCL_IB_GID_INDEX", .value = "1", .line = 2}}, .remarks = {}};
  const auto plan = [&](const env::Environment& user, const std::vector<nccl::ConfFile>& files) {
    return ExplainText(Explain(Server(),
                               env::MakePlan("server1", policy::Assess(Server()), nccl::MergeSettings(user, files)),
                               nccl::kAssumedVersion));
  };
  EXPECT_NE(plan({}, {conf}).find("    hint  Take it out of /root/.nccl.conf:2: nccl-tune finds the right entry"),
            std::string::npos)
      << plan({}, {conf});
  EXPECT_NE(plan({{"NCCL_IB_GID_INDEX", "1"}}, {}).find("    hint  Unset NCCL_IB_GID_INDEX: nccl-tune finds"),
            std::string::npos);
}

TEST(ExplainTextTest, WhatAFileHasSet) {
  const nccl::ConfFile conf{.path = "/etc/nccl.conf",
                            .settings = {{.name = "NCCL_IB_HCA", .value = "mlx5_0", .line = 3},
                                         {.name = "NCCL_IB_TIMEOUT", .value = "abc", .line = 4}},
                            .remarks = {}};
  const auto all =
      Explain(Server(), env::MakePlan("server1", policy::Assess(Server()), nccl::MergeSettings({}, {conf})),
              nccl::kAssumedVersion);
  const auto got = ExplainText(all);
  for (const char* text :
       {"NCCL_IB_HCA         mlx5_0 (/etc/nccl.conf:3, kept)\n",
        "    why   the value in NCCL's own file wins; ours would be =mlx5_2:1",
        "NCCL_IB_GID_INDEX   (left unset)\n    why   /etc/nccl.conf:3 sets NCCL_IB_HCA, and this "
        "was computed for another",
        "NCCL_IB_TIMEOUT     abc (set already)\n    wrong text, which reads silently as 0, expected "}) {
    EXPECT_NE(got.find(text), std::string::npos) << text << "\nin\n" << got;
  }
  ExpectNarrow(got);
  EXPECT_NE(ExplainJson(all).find(R"("set_by": "/etc/nccl.conf:3")"), std::string::npos);
}

TEST(SummaryTextTest, OneEntryAVariable) {
  EXPECT_EQ(SummaryText(PlanFor(Server(), {}), "n: "),
            "n: NCCL_IB_HCA         =mlx5_2:1\n"
            "n:     the only usable port: 1 x 25 Gb/s RoCE\n"
            "n: NCCL_IB_GID_INDEX   3\n"
            "n:     RoCE v2 entry of 172.20.0.11 on ens5f1\n"
            "n: NCCL_SOCKET_IFNAME  =ens5f1\n"
            "n:     the interface of mlx5_2:1, the only selected port: the nodes should meet\n"
            "n:     in 172.20.0.0/24 (inferred on this node)\n"
            "n: GLOO_SOCKET_IFNAME  ens5f1\n"
            "n: TP_SOCKET_IFNAME    ens5f1\n");
  EXPECT_EQ(SummaryText(PlanFor(facts::Node{}, {}), "n: "),
            "n: nothing to set: NCCL's own defaults are right here, or nothing is certain\n");
  const auto odd = SummaryText(PlanFor(Server(), {{"NCCL_IB_HCA", std::string(100, 'x') + "\x1b[31m"}}), "");
  EXPECT_EQ(odd.find('\x1b'), std::string::npos);
  facts::Node many = policy::MakeServer();
  for (int i = 10; i < 40; ++i) {
    const std::string n = std::to_string(i);
    many.netdevs.push_back(policy::MakeNetdev("ens" + n, "172.17." + n + ".1"));
    many.hcas.push_back(policy::MakeRoce("mlx5_" + n, "0000:" + n + ":00.0", 25, "ens" + n, "172.17." + n + ".1"));
  }
  const auto plan = PlanFor(many, {});
  EXPECT_NE(ExplainText(plan).find(env::ValuesOf(plan.plan).at("NCCL_IB_HCA")), std::string::npos) << "the whole value";
  ExpectNarrow(ExplainText(plan));
}

TEST(ExplainTextTest, TheTrafficClassIsSpokenOfWhereAPriorityIsLossless) {
  facts::Node node = policy::MakeServer();
  EXPECT_EQ(ExplainText(PlanFor(node, {})).find("_TC"), std::string::npos);
  EXPECT_NE(ExplainJson(PlanFor(node, {})).find("\"no lossless priority is known\""), std::string::npos);
  const auto theirs = ExplainText(PlanFor(node, {{"NCCL_IB_TC", "106"}}));
  EXPECT_NE(theirs.find("leave it unset: no lossless priority"), std::string::npos) << theirs;
  node.netdevs.back().dcb = facts::Dcb{.pfc = 8, .dscp = {{24, 3}, {26, 3}}, .trust = {}};
  const auto text = ExplainText(PlanFor(node, {}));
  EXPECT_NE(text.find("NCCL_IB_TC          (unset)\n"
                      "    why   several DSCPs lead to priority 3, the lossless one, on ens5f1, and\n"
                      "          which of them is meant is not known\n"
                      "    from  interface ens5f1 = PFC on priority 3, DSCP 24, 26\n"
                      "    not   98 (DSCP 24), 106 (DSCP 26): leads to priority 3 on every port, not\n"
                      "          proved\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("FIFO"), std::string::npos);
}

TEST(ExplainJsonTest, Parses) {
  auto all = PlanFor(Server(), {{"NCCL_IB_HCA", "m\n\xff"}});
  all.notes = {{.where = "a", .what = "b"}};
  const auto text = ExplainJson(all);
  const auto json = base::ParseJson(text);
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(base::GetInteger(*json, "version"), 1);
  EXPECT_EQ(base::GetString(*json, "node"), "server1");
  const auto& settings = base::GetMember(*json, "settings");
  ASSERT_EQ(settings.size(), policy::Rules().size());
  const char* actions[] = {"unset", "kept", "yielded"};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (i < std::size(actions)) {
      EXPECT_EQ(base::GetString(settings[i], "action"), actions[i]);
    }
    EXPECT_FALSE(base::GetString(settings[i], "reason")->empty());
    EXPECT_TRUE(base::GetMember(settings[i], "evidence").is_array());
    EXPECT_TRUE(base::GetMember(settings[i], "rejected").is_array());
  }
  EXPECT_TRUE(base::GetMember(settings[0], "value").is_null());
  EXPECT_EQ(base::GetString(settings[1], "ours"), "=mlx5_2:1");
  EXPECT_TRUE(base::GetString(settings[1], "value")->starts_with("m"));
  EXPECT_TRUE(base::GetMember(settings[2], "value").is_null());
  EXPECT_TRUE(base::GetString(settings[2], "yielded_to").has_value());
  EXPECT_EQ(base::GetMember(*json, "notes").size(), 1u);
}

TEST(EnvTest, ShellQuotesWhatAShellWouldChange) {
  const struct {
    const char* value;
    const char* quoted;
  } rows[] = {
      {"3", "3"},
      {"mlx5_2:1,mlx5_2:1", "mlx5_2:1,mlx5_2:1"},
      {"a=b", "a=b"},
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"^mlx5_0", "'^mlx5_0'"},
      {"=mlx5_2:1", "'=mlx5_2:1'"},
      {"~user", "'~user'"},
      {"", "''"},
      {" ", "' '"},
      {"a b", "'a b'"},
      {"a\tb", "'a\tb'"},
      {"a\nb", "'a\nb'"},
      {"it's", "'it'\\''s'"},
      {"'", "''\\'''"},
      {"\"", "'\"'"},
      {"$HOME", "'$HOME'"},
      {"`id`", "'`id`'"},
      {"a;b", "'a;b'"},
      {"a&b", "'a&b'"},
      {"a|b", "'a|b'"},
      {"a>b", "'a>b'"},
      {"*", "'*'"},
      {"a?", "'a?'"},
      {"[a]", "'[a]'"},
      {"{a,b}", "'{a,b}'"},
      {"#a", "'#a'"},
      {"!a", "'!a'"},
      {"a\\b", "'a\\b'"},
      {"\xc3\xa9", "'\xc3\xa9'"},
  };
  for (const auto& row : rows) EXPECT_EQ(EnvShell({{"V", row.value}}), std::string("V=") + row.quoted + "\n");
}

TEST(EnvTest, EveryFormHoldsTheSame) {
  const auto values = env::ValuesOf(PlanFor(Server(), {}).plan);
  EXPECT_EQ(EnvShell(values),
            "GLOO_SOCKET_IFNAME=ens5f1\nNCCL_IB_GID_INDEX=3\nNCCL_IB_HCA='=mlx5_2:1'\nNCCL_SOCKET_IFNAME='=ens5f1'\n"
            "TP_SOCKET_IFNAME=ens5f1\n");
  EXPECT_EQ(EnvConf(values),
            "GLOO_SOCKET_IFNAME=ens5f1\nNCCL_IB_GID_INDEX=3\nNCCL_IB_HCA==mlx5_2:1\nNCCL_SOCKET_IFNAME==ens5f1\n"
            "TP_SOCKET_IFNAME=ens5f1\n");
  EXPECT_EQ(EnvJson(values),
            "{\n  \"GLOO_SOCKET_IFNAME\": \"ens5f1\",\n  \"NCCL_IB_GID_INDEX\": \"3\",\n  \"NCCL_IB_HCA\": "
            "\"=mlx5_2:1\",\n  \"NCCL_SOCKET_IFNAME\": "
            "\"=ens5f1\",\n  \"TP_SOCKET_IFNAME\": \"ens5f1\"\n}\n");
  EXPECT_EQ(EnvShell({}), "");
  EXPECT_EQ(EnvConf({}), "");
  EXPECT_EQ(EnvJson({}), "{}\n");
}

}  // namespace
}  // namespace nccl_tune::report
