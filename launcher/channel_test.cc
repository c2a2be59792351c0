// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Pair {
  Channel channel{-1};
  int other = -1;  // raw end
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    channel = Channel(ends[0]);
    other = ends[1];
  }
  ~Pair() {
    if (other >= 0) close(other);
  }
  void Write(const std::string& text) const {
    ASSERT_EQ(write(other, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
};

TEST(Channel, LinesComeWholeHoweverTheyWereCut) {
  Pair pair;
  std::vector<std::string> lines;
  pair.Write("one\ntw");
  EXPECT_TRUE(pair.channel.Read(&lines));
  EXPECT_THAT(lines, ElementsAre("one"));
  pair.Write("o\n\nthree\n");
  EXPECT_TRUE(pair.channel.Read(&lines));
  EXPECT_THAT(lines, ElementsAre("one", "two", "", "three"));
}

TEST(Channel, LinesBeforeTheEndCount) {
  Pair pair;
  pair.Write("last\npartial");
  close(std::exchange(pair.other, -1));
  std::vector<std::string> lines;
  EXPECT_FALSE(pair.channel.Read(&lines));
  EXPECT_THAT(lines, ElementsAre("last"));
  EXPECT_FALSE(pair.channel.open());
  EXPECT_FALSE(pair.channel.Send("more"));
}

TEST(Channel, LineWithoutEndIsBounded) {
  Pair pair;
  const std::string block(4096, 'x');
  std::vector<std::string> lines;
  bool open = true;
  std::size_t written = 0;
  for (; open && written < 4 * Channel::kLongestLine; written += block.size()) {
    pair.Write(block);
    open = pair.channel.Read(&lines);
  }
  EXPECT_FALSE(open);
  EXPECT_LE(written, Channel::kLongestLine + 2 * block.size());
  EXPECT_THAT(lines, IsEmpty());
}

TEST(Channel, PeerThatDoesNotReadIsGivenUpAtABound) {
  Pair pair;
  const std::string line(60'000, 'x');
  std::size_t sent = 0;
  while (pair.channel.Send(line) && sent < 10 * Channel::kMostWaiting) sent += line.size();
  EXPECT_LT(sent, 2 * Channel::kMostWaiting);
  EXPECT_NE(pair.channel.Events() & POLLOUT, 0);
}

TEST(Channel, WhatWaitedIsSentWhenThereIsRoom) {
  Pair pair;
  const std::string line(50'000, 'x');
  for (int count = 0; count < 20; ++count) ASSERT_TRUE(pair.channel.Send(line));
  ASSERT_TRUE(pair.channel.waiting());
  std::size_t got = 0;
  std::array<char, 65536> block{};
  while (got < 20 * (line.size() + 1)) {
    const ssize_t now = read(pair.other, block.data(), block.size());
    ASSERT_GT(now, 0);
    got += static_cast<std::size_t>(now);
    ASSERT_TRUE(pair.channel.Flush());
  }
  EXPECT_FALSE(pair.channel.waiting());
  EXPECT_EQ(pair.channel.Events(), POLLIN);
}

TEST(Channel, SendingToAClosedPeerRaisesNoSignal) {
  Pair pair;
  close(std::exchange(pair.other, -1));
  EXPECT_FALSE(pair.channel.Send("x") && pair.channel.Send("y"));
}

TEST(Channel, DescriptorDoesNotReachPrograms) {
  Pair pair;
  EXPECT_NE(fcntl(pair.channel.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace nccl_tune::launcher
