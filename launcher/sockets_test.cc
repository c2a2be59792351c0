// SPDX-License-Identifier: Apache-2.0
#include "launcher/sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nccl_tune::launcher {
namespace {

int WaitFor(int descriptor, short events) {
  pollfd one{.fd = descriptor, .events = events, .revents = 0};
  poll(&one, 1, 5000);
  return ConnectError(descriptor);
}

TEST(Sockets, BothFamiliesReachOneListener) {
  std::uint16_t port = 0;
  const auto listener = ListenTcp(&port);
  ASSERT_TRUE(listener.ok());
  EXPECT_GT(port, 0);
  const auto v4 = StartTcp("127.0.0.1", port);
  ASSERT_TRUE(v4.ok()) << v4.error().ToString();
  EXPECT_EQ(WaitFor(*v4, POLLOUT), 0);
  EXPECT_NE(fcntl(*v4, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(*listener, F_GETFD) & FD_CLOEXEC, 0);
  const auto v6 = StartTcp("::1", port);  // where there is IPv6 at all
  if (v6.ok()) {
    EXPECT_EQ(WaitFor(*v6, POLLOUT), 0);
  }
  close(*v4);
  if (v6.ok()) close(*v6);
  close(*listener);
}

TEST(Sockets, NobodyListeningIsRefused) {
  std::uint16_t port = 0;
  const auto listener = ListenTcp(&port);
  ASSERT_TRUE(listener.ok());
  close(*listener);
  const auto descriptor = StartTcp("127.0.0.1", port);
  if (descriptor.ok()) {
    EXPECT_EQ(WaitFor(*descriptor, POLLOUT), ECONNREFUSED);
    close(*descriptor);
  } else {
    EXPECT_EQ(descriptor.error().ToString(), "connect: Connection refused");
  }
}

TEST(Sockets, OnlyNumbersAreAddresses) {
  for (const char* bad : {"", "localhost", "127.0.0.1:80", "127.0.0.1 ", "10.0.0", "::1%lo", "fe80::1%eth0", "[::1]"}) {
    const auto descriptor = StartTcp(bad, 1);
    ASSERT_FALSE(descriptor.ok()) << bad;
    EXPECT_NE(descriptor.error().ToString().find("not an IP address"), std::string::npos) << bad;
    EXPECT_EQ(SourceAddressTowards(bad), "");
  }
}

TEST(Sockets, AbstractNamesLeaveNothingBehindAndAreTakenOnce) {
  const std::string name = "nccl-tune-sockets-test-" + std::to_string(getpid());
  const auto first = ListenUnix(name);
  ASSERT_TRUE(first.ok());
  const auto second = ListenUnix(name);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().ToString(), "bind: Address already in use");
  const auto client = StartUnix(name);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(ConnectError(*client), 0);
  const int accepted = accept(*first, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  EXPECT_TRUE(IsOwnUser(accepted));
  close(accepted);
  close(*client);
  close(*first);
  EXPECT_FALSE(StartUnix(name).ok());
}

TEST(Sockets, BadNames) {
  EXPECT_FALSE(ListenUnix("").ok());
  EXPECT_FALSE(ListenUnix(std::string(108, 'x')).ok());
  EXPECT_FALSE(StartUnix(std::string(200, 'x')).ok());
}

TEST(Sockets, SourceAddressOfARoute) { EXPECT_EQ(SourceAddressTowards("127.0.0.5"), "127.0.0.1"); }

}  // namespace
}  // namespace nccl_tune::launcher
