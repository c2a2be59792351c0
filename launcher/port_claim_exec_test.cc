// SPDX-License-Identifier: Apache-2.0
//
// What a program finds of the claim on its port when this process becomes it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <set>
#include <string>

#include "launcher/port_claim.h"

namespace nccl_tune::launcher {
namespace {

// A port that is free, as far as one can know.
std::uint16_t FreePort() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  EXPECT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), length), 0);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  close(descriptor);
  return ntohs(address.sin_port);
}

// The open descriptors of a program that this process would become, as it sees them itself.
std::set<int> DescriptorsAfterExec() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/bin/sh", "sh", "-c", "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  std::set<int> out;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    out.insert(std::stoi(text.substr(at, end - at)));
  }
  return out;
}

TEST(PortClaimExecTest, AProgramFindsOneDescriptorMoreAtMost) {
  const std::uint16_t port = FreePort();
  const PortRange alone{.first = port, .last = port};
  const std::set<int> before = DescriptorsAfterExec();
  ASSERT_TRUE(before.contains(STDOUT_FILENO));
  {
    const auto claim = ClaimPort(alone, port, AtExec::kClosed);
    ASSERT_TRUE(claim.ok());
    EXPECT_EQ(DescriptorsAfterExec(), before);
  }
  const auto claim = ClaimPort(alone, port, AtExec::kKept);
  ASSERT_TRUE(claim.ok());
  EXPECT_GE(claim->descriptor(), 100);
  std::set<int> expected = before;
  expected.insert(claim->descriptor());
  EXPECT_EQ(DescriptorsAfterExec(), expected);
}

TEST(PortClaimExecTest, HoldsAsLongAsAProgramThatInheritedIt) {
  const std::uint16_t port = FreePort();
  const PortRange alone{.first = port, .last = port};
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = ClaimPort(alone, port, AtExec::kKept);
    dup2(ends[1], STDOUT_FILENO);
    if (claim.ok()) execl("/bin/sh", "sh", "-c", "echo; exec sleep 60", nullptr);
    _exit(127);
  }
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_FALSE(ClaimPort(alone, port, AtExec::kClosed).ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(ClaimPort(alone, port, AtExec::kClosed).ok());
  close(ends[0]);
}

TEST(PortClaimExecTest, IsKeptWhereFewDescriptorsAreAllowed) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit lower{.rlim_cur = 64, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  const std::uint16_t port = FreePort();
  const auto claim = ClaimPort({.first = port, .last = port}, port, AtExec::kKept);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(claim.ok()) << claim.error().ToString();
  EXPECT_LT(claim->descriptor(), 64);
  EXPECT_TRUE(DescriptorsAfterExec().contains(claim->descriptor()));
}

TEST(PortClaimExecTest, SaysThatThereAreNoDescriptors) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto claim = ClaimPort({}, 20'000, AtExec::kKept);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(claim.ok());
  EXPECT_EQ(claim.error().ToString(), "MASTER_PORT: cannot make a socket: Too many open files");
}

}  // namespace
}  // namespace nccl_tune::launcher
