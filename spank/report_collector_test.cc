// SPDX-License-Identifier: Apache-2.0
#include "spank/report_collector.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "core/facts/ip_address.h"
#include "spank/report_protocol.h"
#include "spank/report_sender.h"
#include "spank/socket_address.h"

namespace nccl_tune::spank {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{20000};  // for what must come
constexpr milliseconds kShort{200};   // for what must not

// Plays srun: its stderr is a pipe while the collector starts, and it ends when `End` is called.
class CollectorTest : public testing::Test {
 protected:
  // False: this host has no address to listen on.
  bool Start(int nodes, const CollectorTimes& times = {}) {
    EXPECT_EQ(pipe2(output_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(place_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(end_.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(output_[1], STDERR_FILENO);
      close(output_[0]);
      close(output_[1]);
      close(end_[1]);
      const auto started = StartCollector(nodes, times);
      const std::string text = (started.ok() ? *started : "-" + started.error().what) + "\n";
      close(STDERR_FILENO);  // the collector alone writes there from here on
      (void)!write(place_[1], text.data(), text.size());
      char none;
      (void)!read(end_[0], &none, 1);
      _exit(waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
    }
    close(output_[1]);
    close(place_[1]);
    close(end_[0]);
    std::string text;
    for (char c; read(place_[0], &c, 1) == 1 && c != '\n';) text += c;
    where_ = text;
    return !text.starts_with("-this host has no address");
  }
  // The srun of the test ends.
  void End() {
    if (end_[1] < 0) return;
    close(end_[1]);
    end_[1] = -1;
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a child was left to wait for";
  }
  void TearDown() override {
    End();
    close(output_[0]);
    close(place_[0]);
  }
  // What it printed until it ended.
  std::string Printed() {
    std::string out;
    std::array<char, 4096> block;
    for (ssize_t got; (got = read(output_[0], block.data(), block.size())) > 0;)
      out.append(block.data(), static_cast<std::size_t>(got));
    return out;
  }
  bool HasPrinted(milliseconds patience) const {
    pollfd waited{.fd = output_[0], .events = POLLIN, .revents = 0};
    return poll(&waited, 1, static_cast<int>(patience.count())) == 1;
  }
  bool Tell(const char* node, const char* key, const char* text) {
    return SendReport(where_, {.node = node, .key = key, .text = text}, kLong);
  }
  int Connect() const {
    const auto place = ParseCollectorPlace(where_);
    const SocketAddress address = MakeSocketAddress(place->addresses.front(), place->port);
    const int fd = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, address.get(), address.length), 0);
    return fd;
  }

  std::string where_;
  std::array<int, 2> output_{-1, -1};
  std::array<int, 2> place_{-1, -1};
  std::array<int, 2> end_{-1, -1};
  pid_t pid_ = -1;
};

TEST_F(CollectorTest, OneTableForNodesWithOnePlan) {
  if (!Start(3)) GTEST_SKIP() << "no address but loopback";
  EXPECT_TRUE(Tell("n2", "a", "x\n"));
  EXPECT_TRUE(Tell("n1", "a", "x\n"));
  EXPECT_TRUE(Tell("n3", "b", "y\n"));
  EXPECT_EQ(
      Printed(),
      "nccl-tune: n[1-2] (2 nodes)\nx\nnccl-tune:   (addresses in the reasons are those of n1)\nnccl-tune: n3\ny\n")
      << "and it ends when all have come";
}

TEST_F(CollectorTest, WhatCameIsPrintedWhenSrunEnds) {
  if (!Start(3)) GTEST_SKIP() << "no address but loopback";
  EXPECT_TRUE(Tell("n2", "a", "x\n"));
  End();
  EXPECT_EQ(Printed(), "nccl-tune: n2\nx\n");
}

TEST_F(CollectorTest, ANodeThatSaysNothingDelaysNoOther) {
  if (!Start(2, {.quiet = milliseconds(50), .longest = kLong})) GTEST_SKIP() << "no address but loopback";
  EXPECT_TRUE(Tell("n2", "a", "x\n"));
  EXPECT_TRUE(HasPrinted(kLong));
  EXPECT_TRUE(Tell("n1", "a", "x\n"));
  EXPECT_EQ(Printed(), "nccl-tune: n2\nx\nnccl-tune: n1\nx\n");
}

TEST_F(CollectorTest, ItEndsWithinItsTime) {
  if (!Start(2, {.quiet = milliseconds(10), .longest = milliseconds(50)})) GTEST_SKIP() << "no address but loopback";
  EXPECT_EQ(Printed(), "");
  EXPECT_FALSE(SendReport(where_, {.node = "n", .key = "", .text = "x"}, kShort));
}

TEST_F(CollectorTest, StrangersAreNotHeard) {
  if (!Start(1)) GTEST_SKIP() << "no address but loopback";
  auto place = *ParseCollectorPlace(where_);
  place.token.assign(32, '0');
  EXPECT_FALSE(SendReport(ToText(place), {.node = "n", .key = "", .text = "stranger\n"}, kLong));
  for (const std::string& text : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(300000, 'x'), std::string("\n"),
                                  std::string("{\"token\":1}\n"), std::string("\0\0", 2)}) {
    const int fd = Connect();
    (void)send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    close(fd);
  }
  const int silent = Connect();
  EXPECT_FALSE(HasPrinted(kShort));
  EXPECT_TRUE(Tell("n1", "a", "mine\n"));
  EXPECT_EQ(Printed(), "nccl-tune: n1\nmine\n");
  close(silent);
}

TEST_F(CollectorTest, BytesOfAStrangerDoNotPutThePrintingOff) {
  if (!Start(2, {.quiet = milliseconds(300), .longest = kLong})) GTEST_SKIP() << "no address but loopback";
  const int stranger = Connect();
  EXPECT_TRUE(Tell("n2", "a", "x\n"));
  bool printed = false;
  for (int i = 0; i < 400 && !printed; ++i) {  // a byte each 50 ms, for at most 20 s
    (void)send(stranger, "x", 1, MSG_NOSIGNAL);
    printed = HasPrinted(milliseconds(50));
  }
  EXPECT_TRUE(printed);
  End();
  close(stranger);
}

TEST_F(CollectorTest, AReportWhoseNodeHasGivenUpIsNotPrinted) {
  if (!Start(2, {.quiet = milliseconds(50), .longest = kLong})) GTEST_SKIP() << "no address but loopback";
  const auto place = *ParseCollectorPlace(where_);
  const std::string line = ToLine({.node = "n1", .key = "a", .text = "late\n"}, place.token);
  const int fd = Connect();
  (void)send(fd, line.data(), line.size() - 1, MSG_NOSIGNAL);
  (void)send(fd, "\n", 1, MSG_NOSIGNAL | MSG_MORE);
  shutdown(fd, SHUT_WR);
  EXPECT_FALSE(HasPrinted(kShort));
  EXPECT_TRUE(Tell("n1", "a", "in time\n"));
  EXPECT_TRUE(Tell("n2", "a", "in time\n"));
  const std::string printed = Printed();
  EXPECT_EQ(printed.find("late"), std::string::npos) << printed;
  close(fd);
}

TEST_F(CollectorTest, ItEndsWithSrunWhenNobodyReadsWhatItPrints) {
  if (!Start(2, {.quiet = milliseconds(10), .longest = kLong})) GTEST_SKIP() << "no address but loopback";
  const std::string much(100000, 'x');  // more than a pipe holds
  EXPECT_TRUE(Tell("n1", "a", (much + "\n").c_str()));
  EXPECT_TRUE(HasPrinted(kLong));
  End();
  pollfd ended{.fd = output_[0], .events = 0, .revents = 0};  // POLLHUP: no process writes there any more
  EXPECT_EQ(poll(&ended, 1, static_cast<int>(kLong.count())), 1);
}

TEST_F(CollectorTest, ManySilentConnectionsDoNotStopIt) {
  if (!Start(1)) GTEST_SKIP() << "no address but loopback";
  std::vector<int> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(Connect());
  EXPECT_TRUE(Tell("n1", "a", "mine\n"));
  EXPECT_EQ(Printed(), "nccl-tune: n1\nmine\n");
  for (const int fd : silent) close(fd);
}

}  // namespace
}  // namespace nccl_tune::spank
