// SPDX-License-Identifier: Apache-2.0
#include "launcher/failure_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "base/json.h"

namespace nccl_tune::launcher {
namespace {

// A rank of six that died of a signal.
Failure Segfault() {
  return {.job = "77",
          .step = "0",
          .nodes = 3,
          .ranks = 6,
          .first = RankEnd{.rank = 3,
                           .local_rank = 1,
                           .node = "server2",
                           .pid = 4711,
                           .signal = SIGSEGV,
                           .seconds = 12.34,
                           .program = "./train",
                           .last_lines = {"loading\tdata", "NCCL WARN Call to ibv_create_cq failed"},
                           .nccl_last = "NCCL INFO misc/socket.cc:881 -> 3"},
          .later = {{.what = "ended (SIGTERM)", .ranks = {5, 4, 0, 1, 2}}},
          .started = 1700000000,
          .ended = 1700000012,
          .program = {"./train", "--fast"}};
}

Failure WithEnd(RankEnd end) {
  Failure failure = Segfault();
  end.node = "server2";
  failure.first = std::move(end);
  failure.later.clear();
  return failure;
}

std::size_t CountLines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(RenderFailureTest, TheWholeBlock) {
  EXPECT_EQ(
      RenderFailure(Segfault()),
      "nccl-launch: rank 3 (server2, pid 4711) failed first: killed by signal 11 (SIGSEGV), 12.3 s after the start\n"
      "  its last lines:\n"
      "    loading\\x09data\n"
      "    NCCL WARN Call to ibv_create_cq failed\n"
      "  NCCL said last: NCCL INFO misc/socket.cc:881 -> 3\n"
      "  that is: the NIC's queues cannot be created\n"
      "    cause: locked memory is limited (64 KiB or 8 MiB) in the job, often by slurmd's own limits\n"
      "    do:    LimitMEMLOCK=infinity for slurmd; `ulimit -l` in the job must say unlimited; in a container also "
      "IPC_LOCK\n"
      "    see    https://github.com/openucx/ucx/issues/8229\n"
      "  afterwards: ranks 0-2,4-5: ended (SIGTERM)\n");
}

TEST(RenderFailureTest, HowItEnded) {
  struct Case {
    RankEnd end;
    std::string says;
  };
  for (const auto& one : std::vector<Case>{
           {{.exit_code = 3}, "exited with status 3, 0.0 s"},
           {{.signal = SIGABRT, .core = true}, "(SIGABRT), core dumped"},
           {{.signal = SIGABRT}, "hint: SIGABRT: it ended itself"},
           {{.signal = 35}, "killed by signal 35, 0.0 s"},
           {{}, "ended, its status is not known"},
           {{.signal = SIGKILL}, "`sacct -j 77.0 -o State,MaxRSS` says OUT_OF_MEMORY"},
           {{.signal = SIGKILL, .oom_killed = true}, "the kernel killed it because the step's memory was used up"},
           {{.signal = SIGKILL, .oom_killed = false}, "not for want of memory: SIGKILL was sent by"},
           {{.exit_code = 137}, "`sacct -j 77.0 -o State,MaxRSS`"},
           {{.exit_code = 1, .oom_killed = true}, "the kernel killed a process of it"},
           {{.signal = SIGBUS}, "`df /dev/shm` on server2"},
           {{.signal = SIGILL}, "another CPU than that of server2"},
           {{.exit_code = 126}, "not executable on server2"},
           {{.exit_code = 127}, "was not found on server2"},
           {{.exit_code = 139}, "139 is what a shell returns for a program killed by SIGSEGV"},
           {{.seconds = std::nan("")}, "0.0 s after"},
           {{.seconds = -5}, "0.0 s after"},
           {{.seconds = std::numeric_limits<double>::infinity()}, "1000000000.0 s after"},
           {{.python_error = "RuntimeError: NCCL error\nin line 2"},
            "Python's error: RuntimeError: NCCL error\\x0ain line 2"},
       }) {
    const std::string text = RenderFailure(WithEnd(one.end));
    EXPECT_NE(text.find(one.says), std::string::npos) << one.says << "\n" << text;
  }
  for (const int quiet : {1, 2, 3, 100, 128, 160, 255}) {
    EXPECT_EQ(RenderFailure(WithEnd({.exit_code = quiet})).find("hint"), std::string::npos) << quiet;
  }
}

TEST(RenderFailureTest, OtherKinds) {
  Failure failure{.nodes = 16, .ranks = 128, .unreached = {"server2", "server3"}};
  failure.kind = FailureKind::kNodeLost;
  EXPECT_EQ(
      RenderFailure(failure),
      "nccl-launch: 2 of 16 nodes do not answer any more: server2,server3\n"
      "  hint: the node is down or cut off, or its nccl-launch was killed; sinfo and the node's slurmd.log tell\n");
  failure.kind = FailureKind::kTimeout;
  failure.limit = 600;
  EXPECT_EQ(RenderFailure(failure),
            "nccl-launch: not done within --timeout 600.0 s; all ranks were ended\n  no word from: server2,server3\n");
  failure.unreached.clear();
  failure.kind = FailureKind::kHang;
  failure.later = {{.what = "silent for 612 s", .ranks = {7}}};
  EXPECT_EQ(RenderFailure(failure),
            "nccl-launch: no rank printed anything for --no-output-timeout 600.0 s; all ranks were ended\n"
            "  afterwards: rank 7: silent for 612 s\n");
  failure.later.clear();
  failure.kind = FailureKind::kCannotStart;
  failure.first = RankEnd{.rank = 4, .node = "server2", .exit_code = 127, .program = "./tr\nain"};
  EXPECT_EQ(RenderFailure(failure),
            "nccl-launch: rank 4 (server2) could not start ./tr\\x0aain, 0.0 s after the start\n"
            "  hint: 127: the program, or one that it starts, was not found on server2\n");
  failure.kind = FailureKind::kRankEnded;
  failure.first.reset();
  EXPECT_EQ(RenderFailure(failure), "nccl-launch: a rank failed first: how is not known\n");
}

// Everything at its largest: 16,384 nodes of 8 ranks, every second rank in each of ten groups.
Failure Huge() {
  Failure failure = Segfault();
  failure.nodes = 16384;
  failure.ranks = failure.nodes * 8;
  failure.first->last_lines.assign(20, std::string(400, '\x01'));
  failure.first->last_lines.back() = "NCCL WARN Call to ibv_create_cq failed";
  failure.first->nccl_last = std::string(100000, 'n');
  failure.first->python_error = std::string(100000, '\n');
  failure.first->signal = SIGKILL;
  failure.later.clear();
  for (std::uint32_t group = 0; group < 10; ++group) {
    LaterEnds ends{.what = "exited with " + std::to_string(group)};
    for (std::uint32_t rank = group; rank < failure.ranks; rank += 2) ends.ranks.push_back(rank);
    failure.later.push_back(std::move(ends));
  }
  for (std::uint32_t node = 0; node < failure.nodes; ++node) failure.unreached.push_back("node" + std::to_string(node));
  failure.differences.assign(1000, "node1  mtu 1500");
  return failure;
}

TEST(RenderFailureTest, StaysShortAtAnySize) {
  const std::string text = RenderFailure(Huge());
  EXPECT_LT(CountLines(text), 40u) << text;
  EXPECT_LT(text.size(), 40000u);
  EXPECT_NE(text.find(",... (65536 ranks)"), std::string::npos) << text;
  EXPECT_NE(text.find("node0,node1,node2,node3,node4,node5,node6,node7,... (16384 nodes)"), std::string::npos) << text;
  EXPECT_NE(text.find("and 6 more groups"), std::string::npos) << text;
}

TEST(FailureJsonTest, ReadsBackAsItWas) {
  const auto json = base::ParseJson(FailureJson(Segfault()));
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(base::GetInteger(*json, "v"), 1);
  EXPECT_EQ(base::GetString(*json, "kind"), "rank-ended");
  EXPECT_EQ(base::GetInteger(*json, "started"), 1700000000);
  const auto& first = base::GetMember(*json, "first");
  EXPECT_EQ(base::GetInteger(first, "rank"), 3);
  EXPECT_EQ(base::GetInteger(first, "signal"), 11);
  EXPECT_EQ(base::GetString(first, "signal_name"), "SIGSEGV");
  EXPECT_FALSE(first.contains("exit_code"));
  EXPECT_FALSE(first.contains("oom_killed"));
  EXPECT_EQ(base::GetMember(first, "last_lines").dump(),
            R"(["loading\tdata","NCCL WARN Call to ibv_create_cq failed"])");
  const auto& later = base::GetMember(*json, "later");
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(base::GetString(later[0], "what"), "ended (SIGTERM)");
  EXPECT_EQ(base::GetString(later[0], "ranks"), "0-2,4-5");
  EXPECT_EQ(base::GetInteger(later[0], "count"), 5);
  EXPECT_EQ(base::GetMember(*json, "program").dump(), R"(["./train","--fast"])");
  ASSERT_EQ(base::GetMember(*json, "explanations").size(), 1u);
  EXPECT_EQ(base::GetString(base::GetMember(*json, "explanations")[0], "id"), "memlock-cq");
}

TEST(FailureJsonTest, TextThatIsNotUtf8StaysJson) {
  Failure failure = Segfault();
  failure.first->last_lines = {"\xff\xfe\x80", std::string(1, '\0')};
  failure.first->node = "\xc3";
  failure.program = {"\xf0\x28\x8c\x28"};
  failure.first->seconds = std::nan("");
  failure.first->signal.reset();
  failure.first->exit_code = 3;
  failure.first->oom_killed = false;
  failure.limit = 5;
  const auto json = base::ParseJson(FailureJson(failure));
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(base::GetInteger(base::GetMember(*json, "first"), "exit_code"), 3);
  EXPECT_EQ(base::GetBool(base::GetMember(*json, "first"), "oom_killed"), false);
}

TEST(FailureJsonTest, EveryKindHasAName) {
  const std::vector<std::pair<FailureKind, std::string>> names = {{FailureKind::kRankEnded, "rank-ended"},
                                                                  {FailureKind::kNodeLost, "node-lost"},
                                                                  {FailureKind::kTimeout, "timeout"},
                                                                  {FailureKind::kHang, "hang"},
                                                                  {FailureKind::kCannotStart, "cannot-start"}};
  for (const auto& [kind, name] : names) {
    const auto json = base::ParseJson(FailureJson({.kind = kind}));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(base::GetString(*json, "kind"), name);
    EXPECT_FALSE(json->contains("first"));
  }
}

TEST(FailureFileNameTest, IsAlwaysAPlainName) {
  struct Case {
    std::string job, step, name;
  };
  for (const auto& one : std::vector<Case>{
           {"77", "0", "failure-77.0.json"},
           {"77_3", "batch", "failure-77_3.batch.json"},
           {"77+1", "0", "failure-77+1.0.json"},
           {"", "", "failure-unknown.unknown.json"},
           {"../../etc", "a/b", "failure-______etc.a_b.json"},
           {"7\n7", "\xff", "failure-7_7._.json"},
       }) {
    EXPECT_EQ(FailureFileName({.job = one.job, .step = one.step}), one.name);
  }
  EXPECT_LT(FailureFileName({.job = std::string(1000, 'x'), .step = std::string(1000, 'y')}).size(), 200u);
}

TEST(SignalNameTest, NamesThoseThatEndPrograms) {
  EXPECT_EQ(SignalName(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(SignalName(SIGTERM), "SIGTERM");
  EXPECT_EQ(SignalName(64), "signal 64");
  EXPECT_EQ(SignalName(0), "signal 0");
  EXPECT_EQ(SignalName(-1), "signal -1");
}

}  // namespace
}  // namespace nccl_tune::launcher
