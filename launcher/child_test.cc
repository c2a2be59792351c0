// SPDX-License-Identifier: Apache-2.0
#include "launcher/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace nccl_tune::launcher {
namespace {

// What a child wrote, and how it ended.
struct Ran {
  bool started = false;
  StartFault fault{};
  std::string output{};
  std::string errors{};
  int status = 0;
};

std::string ReadAll(int descriptor) {
  std::string text;
  if (descriptor < 0) return text;
  fcntl(descriptor, F_SETFL, 0);
  char block[4096];
  for (ssize_t got = 1; got > 0;) {
    got = read(descriptor, block, sizeof block);
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
  }
  close(descriptor);
  return text;
}

Ran RunProgram(const ProgramStart& start) {
  Ran ran;
  Child child;
  ran.started = StartChild(start, SaveSignals(), &child, &ran.fault);
  if (!ran.started) return ran;
  ran.output = ReadAll(child.output);
  ran.errors = ReadAll(child.errors);
  waitpid(child.pid, &ran.status, 0);
  return ran;
}

ProgramStart Shell(const std::string& script) {
  return {.program = {"sh", "-c", script}, .environment = {{"PATH", "/usr/bin:/bin"}, {"NAME", "value"}}};
}

TEST(Child, GetsItsEnvironmentAndItsOutputsAreApart) {
  const Ran ran = RunProgram(Shell("echo \"$NAME\"; echo oops >&2; exit 3"));
  ASSERT_TRUE(ran.started) << ran.fault.text;
  EXPECT_EQ(ran.output, "value\n");
  EXPECT_EQ(ran.errors, "oops\n");
  EXPECT_EQ(WEXITSTATUS(ran.status), 3);
}

TEST(Child, IsAProcessGroupOfItsOwnOnlyWhereAskedFor) {
  auto start = Shell("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat");
  start.own_group = false;
  EXPECT_EQ(std::stoi(RunProgram(start).output), getpgrp());
  start.own_group = true;
  EXPECT_NE(std::stoi(RunProgram(start).output), getpgrp());
}

TEST(Child, InputCanBeNothing) {
  auto start = Shell("cat; echo end");
  start.no_input = true;
  EXPECT_EQ(RunProgram(start).output, "end\n");
}

TEST(Child, SignalsAreAsTheTaskGotThem) {
  const SavedSignals before = SaveSignals();
  sigset_t all;
  sigfillset(&all);
  Child child;
  StartFault fault;
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const bool started = StartChild(Shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"), before, &child, &fault);
  RestoreSignals(before);
  ASSERT_TRUE(started);
  const std::string text = ReadAll(child.output);
  close(child.errors);
  waitpid(child.pid, nullptr, 0);
  EXPECT_NE(text.find("SigBlk:\t0000000000000000"), std::string::npos) << text;
  const std::size_t ignored = text.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  const auto mask = std::stoull(text.substr(ignored + 8, 16), nullptr, 16);
  EXPECT_EQ(mask & (1ULL << (SIGPIPE - 1)), 0U);
}

TEST(Child, LeavesNoDescriptorOfOursBehind) {
  const Ran ran = RunProgram(Shell("ls /proc/self/fd | wc -l"));
  EXPECT_LE(std::stoi(ran.output), 4 + 8);  // 0, 1, 2, the folder's own; what the test runner leaves open
  const int ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Ran again = RunProgram(Shell("ls /proc/self/fd | wc -l"));
  EXPECT_EQ(again.output, ran.output);
  close(ours);
}

TEST(Child, PreparationThatFailsIsOurOwnFault) {
  auto start = Shell("echo no");
  start.prepare = [] { return base::Status(base::Error{.what = "not these CPUs"}); };
  const Ran ran = RunProgram(start);
  EXPECT_FALSE(ran.started);
  EXPECT_EQ(ran.fault.status, 125);
  EXPECT_EQ(ran.fault.text, "not these CPUs");
}

class BadProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "child_test_" + std::to_string(getpid());
    mkdir(folder_.c_str(), 0700);
    mkdir((folder_ + "/folder").c_str(), 0700);
    std::ofstream(folder_ + "/plain") << "text\n";
    std::ofstream(folder_ + "/lost") << "#!/no/such/interpreter\n";
    std::ofstream(folder_ + "/headless") << "exit 4\n";
    chmod((folder_ + "/lost").c_str(), 0755);
    chmod((folder_ + "/headless").c_str(), 0755);
  }
  std::string folder_;
};

TEST_F(BadProgram, StatusAndWords) {
  const struct {
    std::string program;
    int status;
    const char* words;
  } table[] = {
      {"./no-such-program", 127, "not found: No such file or directory"},
      {"no-such-program", 127, "not found"},
      {folder_ + "/plain/x", 127, "not found: Not a directory"},
      {folder_ + "/lost", 126, "cannot be executed: the interpreter that its first line names is not there"},
      {folder_ + "/plain", 126, "cannot be executed: Permission denied"},
      {folder_ + "/folder", 126, "cannot be executed: Permission denied"},
      {std::string(5000, 'x'), 126, "cannot be executed: File name too long"},
  };
  for (const auto& row : table) {
    ProgramStart start = Shell("");
    start.program = {row.program};
    const Ran ran = RunProgram(start);
    EXPECT_FALSE(ran.started) << row.program;
    EXPECT_EQ(ran.fault.status, row.status) << row.program;
    EXPECT_NE(ran.fault.text.find(row.words), std::string::npos) << ran.fault.text;
  }
}

TEST_F(BadProgram, ScriptWithoutAHeadRunsAsUnderAShell) {
  ProgramStart start = Shell("");
  start.program = {folder_ + "/headless"};
  EXPECT_EQ(WEXITSTATUS(RunProgram(start).status), 4);
}

TEST_F(BadProgram, CheckSeesItBeforeTheStart) {
  const base::Environment environment{{"PATH", folder_ + ":/usr/bin:/bin"}};
  EXPECT_EQ(CheckProgram("sh", environment), 0);
  EXPECT_EQ(CheckProgram("/bin/sh", environment), 0);
  EXPECT_EQ(CheckProgram("sh", {}), 0);  // execvp's own PATH
  EXPECT_EQ(CheckProgram("plain", environment), EACCES);
  EXPECT_EQ(CheckProgram("folder", environment), EACCES);
  EXPECT_EQ(CheckProgram(folder_ + "/plain", environment), EACCES);
  EXPECT_EQ(CheckProgram(folder_ + "/no", environment), ENOENT);
  EXPECT_EQ(CheckProgram("no-such-program", environment), ENOENT);
  EXPECT_EQ(CheckProgram("no-such-program", {{"PATH", ""}}), ENOENT);
  EXPECT_EQ(CheckProgram("sh", {{"PATH", "/no/such/folder"}}), ENOENT);
  EXPECT_EQ(CheckProgram("", environment), EACCES);
  EXPECT_EQ(CheckProgram(folder_ + "/lost", environment), kNoInterpreter);
  EXPECT_EQ(CheckProgram("lost", environment), kNoInterpreter);
}

}  // namespace
}  // namespace nccl_tune::launcher
