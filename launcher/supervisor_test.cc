// SPDX-License-Identifier: Apache-2.0
#include "launcher/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>

namespace nccl_tune::launcher {
namespace {

using std::chrono::milliseconds;

struct Ended {
  int status = 0;  // as srun would say it
  std::string output{};
  std::string errors{};
};

// A step of one task a node; task i runs scripts[i] as rank i, all are children of task 0 by TCP.
class Step {
 public:
  std::vector<std::string> scripts;
  SupervisorOptions options{};
  std::vector<pid_t> pids{};

  explicit Step(std::vector<std::string> all) : scripts(std::move(all)) {
    options.grace = milliseconds(300);
    std::string folder = ::testing::TempDir() + "supervisor_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) ADD_FAILURE() << folder;
    folder_ = folder;
  }
  ~Step() {
    for (const pid_t pid : pids) kill(pid, SIGKILL);
  }

  std::string Path(std::size_t task, const char* what) const { return folder_ + "/" + std::to_string(task) + what; }

  std::string Note(const char* name) const { return folder_ + "/" + name; }

  void Start() {
    Links root;
    ASSERT_TRUE(root.Listen().ok());
    const std::uint16_t port = root.port();
    for (std::size_t task = 0; task < scripts.size(); ++task) {
      const pid_t pid = fork();
      if (pid == 0) Become(task, std::move(root), port);
      pids.push_back(pid);
    }
  }

  std::vector<Ended> Wait() {
    std::vector<Ended> all;
    const auto limit = Clock::now() + std::chrono::seconds(30);
    for (std::size_t task = 0; task < pids.size(); ++task) {
      int status = 0;
      while (waitpid(pids[task], &status, WNOHANG) == 0) {
        if (Clock::now() > limit) kill(pids[task], SIGKILL);
        usleep(2000);
      }
      all.push_back(
          {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), Text(task, ".out"), Text(task, ".err")});
    }
    pids.clear();
    return all;
  }

  std::vector<Ended> Run() {
    Start();
    return Wait();
  }

  // Until the file that a script makes is there.
  void WaitFor(const std::string& path) const {
    for (int tries = 0; tries < 2000 && access(path.c_str(), F_OK) != 0; ++tries) usleep(5000);
    ASSERT_EQ(access(path.c_str(), F_OK), 0) << path;
  }

  std::string Text(std::size_t task, const char* what) const {
    std::stringstream text;
    text << std::ifstream(Path(task, what)).rdbuf();
    return text.str();
  }

 private:
  [[noreturn]] void Become(std::size_t task, Links root, std::uint16_t port) {
    dup2(open(Path(task, ".out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(Path(task, ".err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
    Links links;
    if (task == 0) {
      links = std::move(root);
    } else {
      root.StopListening();
    }
    const auto id = static_cast<std::uint32_t>(task);
    links.Introduce(id, id, "token", "n" + std::to_string(task));
    if (task > 0) links.ConnectTo(Role::kTree, 0, "127.0.0.1", port, Clock::now() + std::chrono::seconds(10));
    Supervision plan{.node = "n" + std::to_string(task), .node_id = id, .rank = id, .is_root = task == 0};
    plan.children = task == 0 ? scripts.size() - 1 : 0;
    plan.tasks = static_cast<std::uint32_t>(scripts.size());
    plan.options = options;
    RankPlan rank{.rank = id};
    rank.start = {.program = {"sh", "-c", scripts[task]},
                  .environment = {{"PATH", "/usr/bin:/bin"}, {"HERE", folder_}}};
    plan.ranks.push_back(std::move(rank));
    plan.report = [](Failure failure) {
      std::string text = "REPORT " + std::to_string(static_cast<int>(failure.kind));
      if (failure.first) text += " first " + std::to_string(failure.first->rank);
      for (const auto& one : failure.unreached) text += " lost " + one;
      for (const auto& one : failure.states) text += " state " + std::to_string(one.rank) + " " + one.last_line;
      std::cerr << text + "\n" << std::flush;
    };
    EndAs(Supervise(std::move(plan), std::move(links), SaveSignals(), Clock::now()));
  }

  std::string folder_;
};

TEST(Supervisor, AllWell) {
  Step step({"echo zero", "echo one; echo err >&2", "sleep 0.2"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 0);
  EXPECT_EQ(ended[1].status, 0);
  EXPECT_EQ(ended[2].status, 0);
  EXPECT_EQ(ended[0].output, "zero\n");
  EXPECT_EQ(ended[0].errors, "");
  EXPECT_EQ(ended[1].output, "one\n");
  EXPECT_EQ(ended[1].errors, "err\n");
}

TEST(Supervisor, FirstFailureIsNamedOnceAndTheRestEndWithItsStatus) {
  Step step({"sleep 600", "exec sleep 600", "sleep 0.1; echo oops >&2; exit 7"});
  const auto ended = step.Run();
  for (const auto& one : ended) EXPECT_EQ(one.status, 7);
  EXPECT_EQ(ended[0].errors, "REPORT 0 first 2\n");
  EXPECT_EQ(ended[1].errors, "");
  EXPECT_EQ(ended[2].errors, "oops\n");
}

TEST(Supervisor, RanksThatFailForItEndAsTheFirstDid) {
  Step step({"while ! [ -e $HERE/first ]; do sleep 0.01; done; sleep 0.1; exit 9", "touch $HERE/first; exit 3",
             "while ! [ -e $HERE/first ]; do sleep 0.01; done; sleep 0.1; kill -ABRT $$"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].errors, "REPORT 0 first 1\n");
  for (const auto& one : ended) EXPECT_EQ(one.status, 3);
}

TEST(Supervisor, FailureOfRankZeroItself) {
  Step step({"exit 3", "exec sleep 600"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 3);
  EXPECT_EQ(ended[1].status, 3);
  EXPECT_EQ(ended[0].errors, "REPORT 0 first 0\n");
}

TEST(Supervisor, SignalsOfARankAreItsSupervisorsEnd) {
  for (const int number : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGUSR1}) {
    Step step({"exec sleep 600", "kill -" + std::to_string(number) + " $$"});
    const auto ended = step.Run();
    EXPECT_EQ(ended[1].status, 128 + number);
    EXPECT_EQ(ended[0].status, 128 + number);
    EXPECT_EQ(ended[0].errors, "REPORT 0 first 1\n");
  }
}

TEST(Supervisor, RankThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  Step step({"trap '' TERM; while :; do sleep 0.05; done", "exit 5"});
  const auto started = Clock::now();
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 5);
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(15));
}

TEST(Supervisor, RankMayEndInPeaceWithinTheGracePeriod) {
  Step step({"trap 'echo saved; exit 0' TERM; touch $HERE/up; while :; do sleep 0.05; done",
             "while ! [ -e $HERE/up ]; do sleep 0.02; done; exit 5"});
  step.options.grace = milliseconds(10'000);
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].output, "saved\n");
  EXPECT_EQ(ended[0].status, 5);
}

TEST(Supervisor, SignalsGoThroughOnceEach) {
  Step step({"trap 'echo usr1' USR1; trap 'echo usr2; exit 0' USR2; touch $HERE/up; while :; do sleep 0.05; done"});
  step.Start();
  step.WaitFor(step.Note("up"));
  kill(step.pids[0], SIGUSR1);
  usleep(300'000);
  kill(step.pids[0], SIGUSR2);
  const auto ended = step.Wait();
  EXPECT_EQ(ended[0].output, "usr1\nusr2\n");
  EXPECT_EQ(ended[0].status, 0);
}

TEST(Supervisor, SigtermFromOutsideIsNoFailureOfARank) {
  Step step({"touch $HERE/up; exec sleep 600"});
  step.Start();
  step.WaitFor(step.Note("up"));
  kill(step.pids[0], SIGTERM);
  const auto ended = step.Wait();
  EXPECT_EQ(ended[0].status, 128 + SIGTERM);
  EXPECT_EQ(ended[0].errors,
            "nccl-launch: ended from outside by signal 15 (SIGTERM): scancel, a time limit, or srun\n");
}

TEST(Supervisor, LauncherThatIsKilledIsALostNodeAndItsRankDiesToo) {
  Step step(
      {"exec sleep 600", "echo $$ > $HERE/pid.new; mv $HERE/pid.new $HERE/pid; exec sleep 600", "exec sleep 600"});
  step.Start();
  const std::string note = step.Note("pid");
  step.WaitFor(note);
  usleep(200'000);  // connected
  kill(step.pids[1], SIGKILL);
  const auto ended = step.Wait();
  EXPECT_EQ(ended[0].errors, "REPORT 1 lost n1\n");
  EXPECT_EQ(ended[0].status, 137);
  EXPECT_EQ(ended[2].status, 137);
  pid_t rank = 0;
  std::ifstream(note) >> rank;
  EXPECT_NE(kill(rank, 0), 0);
}

TEST(Supervisor, LossOfRankZerosLauncherEndsTheOthers) {
  Step step({"exec sleep 600", "touch $HERE/up; exec sleep 600", "exec sleep 600"});
  step.Start();
  step.WaitFor(step.Note("up"));
  usleep(200'000);
  kill(step.pids[0], SIGKILL);
  const auto ended = step.Wait();
  EXPECT_EQ(ended[1].status, 137);
  EXPECT_EQ(ended[2].status, 137);
  EXPECT_EQ(ended[1].errors, "nccl-launch: n1: the launcher of rank 0 has gone away; ending the other ranks\n");
  EXPECT_EQ(ended[2].errors, "");
}

TEST(Supervisor, WhatARankHasLeftRunningIsHeardToItsEnd) {
  Step step({"(sleep 0.4; echo late) & echo early; exit 0", "exec sleep 0.1"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 0);
  EXPECT_EQ(ended[0].output, "early\nlate\n");
}

TEST(Supervisor, AfterAFailureWhatRanksLeftRunningIsEnded) {
  Step step({"sleep 600 & exit 0", "(sleep 0.1; echo last words >&2) & sleep 600 & exit 3"});
  const auto started = Clock::now();
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 3);
  EXPECT_EQ(ended[1].status, 3);
  EXPECT_EQ(ended[1].errors, "last words\n");
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(15));
}

TEST(Supervisor, LauncherThatIsStoppedDoesNotHoldTheOthers) {
  Step step({"exec sleep 600", "touch $HERE/up; exec sleep 600",
             "while ! [ -e $HERE/stopped ]; do sleep 0.02; done; exit 5"});
  step.Start();
  step.WaitFor(step.Note("up"));
  usleep(200'000);
  kill(step.pids[1], SIGSTOP);
  std::ofstream(step.Note("stopped")) << "x";
  int status = 0;
  ASSERT_EQ(waitpid(step.pids[0], &status, 0), step.pids[0]);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(step.Text(0, ".err"),
            "REPORT 0 first 2\nnccl-launch: no word from the launcher of n1 after the grace period: Slurm is asked to "
            "kill the "
            "step\n");
}

TEST(Supervisor, TimeoutIs124) {
  Step step({"exec sleep 600", "exec sleep 600"});
  step.options.timeout = milliseconds(400);
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].errors, "REPORT 2\n");
  EXPECT_EQ(ended[0].status, 124);
  EXPECT_EQ(ended[1].status, 124);
}

TEST(Supervisor, HangIsSeenOnlyWhenNobodyWritesAnything) {
  Step step({"echo step 1; exec sleep 600", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; exec sleep 600"});
  step.options.no_output = milliseconds(500);
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].errors, "REPORT 3 state 0 step 1 state 1 6\n");
  EXPECT_EQ(ended[0].status, 124);
  EXPECT_EQ(ended[1].status, 124);
}

TEST(Supervisor, LastRankThatEndsIsNoHang) {
  for (int tries = 0; tries < 5; ++tries) {
    Step step({"exit 0", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done"});
    step.options.no_output = milliseconds(450);
    const auto ended = step.Run();
    EXPECT_EQ(ended[0].errors, "");
    EXPECT_EQ(ended[0].status, 0);
  }
}

TEST(Supervisor, ProgramThatCannotBeStarted) {
  Step step({"exec /no/such/program", "exec sleep 600"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 127);
  EXPECT_EQ(ended[1].status, 127);
}

TEST(Supervisor, MuchOutputPassesUnchanged) {
  Step step({"i=0; while [ $i -lt 20000 ]; do echo \"line $i with some text behind it\"; i=$((i+1)); done"});
  const auto ended = step.Run();
  EXPECT_EQ(ended[0].status, 0);
  EXPECT_EQ(std::count(ended[0].output.begin(), ended[0].output.end(), '\n'), 20000);
  EXPECT_NE(ended[0].output.find("line 19999 with"), std::string::npos);
}

}  // namespace
}  // namespace nccl_tune::launcher
