// SPDX-License-Identifier: Apache-2.0
#include "hw/run_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

namespace nccl_tune::hw {
namespace {

constexpr std::chrono::milliseconds kLong{20000};
constexpr std::chrono::milliseconds kShort{50};

TEST(RunProgramTest, ItsOutput) {
  EXPECT_EQ(*RunProgram({"sh", "-c", "echo a b; echo c >&2"}, kLong), "a b\n");
  EXPECT_EQ(*RunProgram({"echo", "$HOME", "*"}, kLong), "$HOME *\n") << "no shell reads the words";
  EXPECT_EQ(*RunProgram({"true"}, kLong), "");
  EXPECT_EQ(*RunProgram({"cat"}, kLong), "") << "its input is empty";
}

TEST(RunProgramTest, WhatFails) {
  EXPECT_EQ(RunProgram({"nccl-tune-no-such-program"}, kLong).error().code, base::Code::kNotFound);
  EXPECT_EQ(RunProgram({}, kLong).error().what, "no program");
  EXPECT_EQ(RunProgram({"false"}, kLong).error().ToString(), "false: it failed");
  EXPECT_EQ(RunProgram({"sh", "-c", "kill -9 $$"}, kLong).error().what, "it failed");
  EXPECT_EQ(RunProgram({"sh", "-c", "echo a; exit 3"}, kLong).error().what, "it failed");
  EXPECT_EQ(RunProgram({"sleep", "30"}, kShort).error().what, "no whole answer in time");
  EXPECT_EQ(RunProgram({"cat", "/dev/zero"}, kLong).error().what, "no whole answer in time");
  EXPECT_EQ(RunProgram({"sh", "-c", "sleep 321 & wait"}, kShort).error().what, "no whole answer in time");
  EXPECT_EQ(*RunProgram({"sh", "-c", "ps -eo args | grep -cx '[s]leep 321' || true"}, kLong), "0\n");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child stays";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace nccl_tune::hw
