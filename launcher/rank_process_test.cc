// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace nccl_tune::launcher {
namespace {

using Clock = std::chrono::steady_clock;

RankPlan Shell(const std::string& script) {
  RankPlan plan{.rank = 3, .local_rank = 1};
  plan.start = {.program = {"sh", "-c", script}, .environment = {{"PATH", "/usr/bin:/bin"}}};
  return plan;
}

void Pump(RankProcess* rank, bool reap = true) {
  const auto limit = Clock::now() + std::chrono::seconds(20);
  while (!rank->settled() && Clock::now() < limit) {
    std::vector<pollfd> polls;
    rank->AppendPolls(&polls);
    poll(polls.data(), polls.size(), 5);
    rank->Advance(polls, Clock::now());
    int status = 0;
    if (reap && rank->running() && waitpid(rank->pid(), &status, WNOHANG) > 0) rank->Reap(status, Clock::now());
  }
  ASSERT_TRUE(rank->settled());
}

RankEnd RunToEnd(RankPlan plan) {
  RankProcess rank(std::move(plan), "server2", Clock::now());
  StartFault fault;
  if (rank.Start(SaveSignals(), &fault)) Pump(&rank);
  return *rank.end();
}

TEST(RankProcess, EndSaysWhatItDiedOfAndItsLastLines) {
  const RankEnd end = RunToEnd(Shell("echo out; echo one >&2; echo two >&2; exit 7"));
  EXPECT_EQ(end.rank, 3U);
  EXPECT_EQ(end.node, "server2");
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_EQ(end.signal, std::nullopt);
  EXPECT_GT(end.pid, 0);
  EXPECT_EQ(end.last_lines, (std::vector<std::string>{"one", "two"}));
}

TEST(RankProcess, SignalIsNamed) {
  const RankEnd end = RunToEnd(Shell("kill -SEGV $$"));
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.exit_code, std::nullopt);
}

TEST(RankProcess, WithoutErrorsTheLastLinesAreItsOutput) {
  EXPECT_EQ(RunToEnd(Shell("echo out; exit 1")).last_lines, (std::vector<std::string>{"out"}));
}

TEST(RankProcess, NcclsWarningOnStdoutIsFound) {
  const RankEnd end =
      RunToEnd(Shell("echo 'n:1:2 [0] x.cc:1 NCCL WARN bad'; echo 'n:1:2 [0] NCCL INFO x' >&2; exit 1"));
  EXPECT_EQ(end.nccl_last, "n:1:2 [0] x.cc:1 NCCL WARN bad");
}

TEST(RankProcess, PythonsErrorFileIsRead) {
  const std::string path = ::testing::TempDir() + "error_" + std::to_string(getpid()) + ".json";
  for (const char* text :
       {R"({"message": {"message": "ValueError: x", "extraInfo": {}}})", R"({"message": "ValueError: x"})"}) {
    std::ofstream(path) << text;
    auto plan = Shell("exit 1");
    plan.error_file = path;
    EXPECT_EQ(RunToEnd(std::move(plan)).python_error, "ValueError: x");
  }
  for (const char* text : {"", "{", "[]", R"({"message": 7})", R"({"message": {}})"}) {
    std::ofstream(path) << text;
    auto plan = Shell("exit 1");
    plan.error_file = path;
    EXPECT_EQ(RunToEnd(std::move(plan)).python_error, std::nullopt) << text;
  }
}

TEST(RankProcess, ProgramThatIsNotThereHasEndedAtOnce) {
  auto plan = Shell("");
  plan.start.program = {"./no-such-program"};
  RankProcess rank(std::move(plan), "n", Clock::now());
  StartFault fault;
  EXPECT_FALSE(rank.Start(SaveSignals(), &fault));
  EXPECT_EQ(fault.status, 127);
  EXPECT_TRUE(rank.settled());
  EXPECT_EQ(rank.end()->exit_code, 127);
}

TEST(RankProcess, DismissedWhatItLeftRunningIsEnded) {
  const std::string note = ::testing::TempDir() + "left_" + std::to_string(getpid());
  const auto started = Clock::now();
  RankProcess rank(Shell("sleep 600 & echo $! > " + note + "; exit 0"), "n", started);
  StartFault fault;
  ASSERT_TRUE(rank.Start(SaveSignals(), &fault));
  rank.Dismiss(started);
  Pump(&rank);
  EXPECT_EQ(rank.end()->exit_code, 0);
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(15));
  pid_t left = 0;
  std::ifstream(note) >> left;
  ASSERT_GT(left, 0);
  bool gone = false;
  for (int tries = 0; tries < 500 && !gone; ++tries) {
    std::string state;
    std::ifstream(std::string("/proc/") + std::to_string(left) + "/stat") >> state >> state >> state;
    gone = state.empty() || state == "Z";
    usleep(10'000);
  }
  EXPECT_TRUE(gone);
}

TEST(RankProcess, LookTellsStateAndLastLine) {
  auto plan = Shell("echo a warning >&2; sleep 0.1; echo waiting; exec sleep 600");
  RankProcess rank(std::move(plan), "server2", Clock::now());
  StartFault fault;
  ASSERT_TRUE(rank.Start(SaveSignals(), &fault));
  const auto limit = Clock::now() + std::chrono::seconds(10);
  RankState state = rank.Look(false);
  while ((state.last_line != "waiting" || state.state.rfind("S (sleeping)", 0) != 0) && Clock::now() < limit) {
    std::vector<pollfd> polls;
    rank.AppendPolls(&polls);
    poll(polls.data(), polls.size(), 5);
    rank.Advance(polls, Clock::now());
    state = rank.Look(false);
  }
  EXPECT_EQ(state.last_line, "waiting");
  EXPECT_EQ(state.state.rfind("S (sleeping)", 0), 0U) << state.state;
  rank.KillAll();
  Pump(&rank);
  EXPECT_EQ(rank.end()->signal, SIGKILL);
}

TEST(RankProcess, LogTakesBothOutputs) {
  auto log = LogFile::Create(::testing::TempDir() + "rank_log", "rank-3.log", "# rank 3");
  ASSERT_TRUE(log.ok());
  auto plan = Shell("echo out; echo err >&2");
  plan.log = std::make_shared<LogFile>(std::move(log).value());
  RunToEnd(std::move(plan));
  std::stringstream text;
  text << std::ifstream(::testing::TempDir() + "rank_log/rank-3.log").rdbuf();
  EXPECT_NE(text.str().find("out\n"), std::string::npos);
  EXPECT_NE(text.str().find("err\n"), std::string::npos);
}

}  // namespace
}  // namespace nccl_tune::launcher
