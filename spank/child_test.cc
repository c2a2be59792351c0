// SPDX-License-Identifier: Apache-2.0
#include "spank/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

namespace nccl_tune::spank {
namespace {

using std::chrono::milliseconds;

TEST(RunInChildTest, PassesTextOn) {
  EXPECT_EQ(*RunInChild([] { return std::string("hello"); }, milliseconds(5000)), "hello");
  EXPECT_EQ(*RunInChild([] { return std::string(); }, milliseconds(5000)), "");
  EXPECT_EQ(RunInChild([] { return std::string(200 << 10, 'x'); }, milliseconds(5000))->size(), 200u << 10);
}

TEST(RunInChildTest, LeavesNoChildBehind) {
  ASSERT_TRUE(RunInChild([] { return std::string("x"); }, milliseconds(5000)).ok());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunInChildTest, EndsAChildThatHangs) {
  const auto got = RunInChild(
      [] {
        while (true) pause();
        return std::string();
      },
      milliseconds(50));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, base::Code::kTimeout);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(RunInChildTest, SurvivesAChildThatDies) {
  const auto got = RunInChild(
      [] {
        raise(SIGKILL);
        return std::string();
      },
      milliseconds(5000));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().what, "the detecting process died of signal 9");
}

TEST(RunInChildTest, AnExceptionEndsTheChild) {
  const pid_t caller = getpid();
  const auto got = RunInChild([]() -> std::string { throw std::bad_alloc(); }, milliseconds(5000));
  if (getpid() != caller) _exit(0);  // the copy went on
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().what, "the detecting process failed");
}

TEST(RunInChildTest, TheChildCannotBeLookedInto) {
  EXPECT_EQ(*RunInChild([] { return std::to_string(prctl(PR_GET_DUMPABLE)); }, milliseconds(5000)), "0");
}

TEST(RunInChildTest, RefusesAnEndlessAnswer) {
  const auto got = RunInChild([] { return std::string(300 << 10, 'x'); }, milliseconds(5000));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().what, "too long an answer");
}

TEST(RunInChildTest, TheChildHoldsNoDescriptorOfTheCaller) {
  const int ours = open("/dev/null", O_RDONLY);
  const auto got = RunInChild([ours] { return std::string(fcntl(ours, F_GETFD) < 0 && ours > 3 ? "closed" : "open"); },
                              milliseconds(5000));
  close(ours);
  EXPECT_TRUE(ours == 3 || *got == "closed");
}

}  // namespace
}  // namespace nccl_tune::spank
