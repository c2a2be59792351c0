// SPDX-License-Identifier: Apache-2.0
#include "launcher/inspect.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nccl_tune::launcher {
namespace {

TEST(Inspect, NumberBehindAKey) {
  EXPECT_EQ(KeyedNumber("low 0\noom 3\noom_kill 2\noom_group_kill 9\n", "oom_kill"), 2U);
  EXPECT_EQ(KeyedNumber("oom_kill 18446744073709551615", "oom_kill"), 18446744073709551615U);
  for (const char* bad : {"", "oom_kill", "oom_kill ", "oom_kill x", "oom_kill -1", "oom_kill_disable 0", " oom_kill 1",
                          "oom_kill 1 2", "oom_kill 18446744073709551616", "OOM_KILL 1"}) {
    EXPECT_EQ(KeyedNumber(bad, "oom_kill"), std::nullopt) << bad;
  }
}

TEST(Inspect, CgroupThatCountsMemory) {
  EXPECT_EQ(MemoryCgroup("0::/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n"),
            "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_5/step_0/user/task_0");
  EXPECT_EQ(MemoryCgroup("5:cpu,memory:/slurm/uid_0/job_5\n0::/\n"), "/sys/fs/cgroup/memory/slurm/uid_0/job_5");
  for (const char* bad : {"", "0", "0:", "0::", "0::relative", "1:name=systemd:/x", "0::/../../etc", "a:b"}) {
    EXPECT_EQ(MemoryCgroup(bad), std::nullopt) << bad;
  }
}

TEST(Inspect, StateOfASleepingChild) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::string state;
  for (int tries = 0; tries < 500 && state.rfind("S (sleeping)", 0) != 0; ++tries) {
    usleep(10'000);
    state = DescribeState(child);
  }
  EXPECT_EQ(state.rfind("S (sleeping)", 0), 0U) << state;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(DescribeState(child), "");
}

TEST(Inspect, ChildOfAShellIsTheOneThatCounts) {
  const pid_t shell = fork();
  if (shell == 0) {
    execl("/bin/sh", "sh", "-c", "sleep 60; :", static_cast<char*>(nullptr));
    _exit(127);
  }
  std::string state;
  for (int tries = 0; tries < 500 && state.find("sleep with pid ") == std::string::npos; ++tries) {
    usleep(10'000);
    state = DescribeState(shell);
  }
  EXPECT_NE(state.find("sleep with pid "), std::string::npos) << state;
  EXPECT_NE(LastDescendant(shell), shell);
  kill(LastDescendant(shell), SIGKILL);
  kill(shell, SIGKILL);
  waitpid(shell, nullptr, 0);
}

TEST(Inspect, StackOfNobodyIsNothing) {
  EXPECT_TRUE(ReadStack(2'000'000'000, std::chrono::milliseconds(2000)).empty());
}

}  // namespace
}  // namespace nccl_tune::launcher
