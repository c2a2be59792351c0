// SPDX-License-Identifier: Apache-2.0
#include "launcher/port_claim.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;

// A TCP socket on a port that the kernel chose, listening or not.
class Taken {
 public:
  explicit Taken(int family = AF_INET) : descriptor_(socket(family, SOCK_STREAM, 0)) {
    sockaddr_storage address{};
    address.ss_family = static_cast<sa_family_t>(family);
    socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (family == AF_INET6) {
      const int only = 1;
      setsockopt(descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    }
    if (bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length) != 0) return;
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                                    : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { close(descriptor_); }

  int descriptor() const { return descriptor_; }
  std::uint16_t port() const { return port_; }  // 0: the system has no such family
  PortRange Alone() const { return {.first = port_, .last = port_}; }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

std::uint16_t FreePort() { return Taken().port(); }

TEST(ParsePortRangeTest, ReadsRanges) {
  struct Case {
    const char* text;
    std::uint16_t first;
    std::uint16_t last;
  };
  for (const Case& one : std::vector<Case>{
           {"20000-28000", 20'000, 28'000}, {"1024-65535", 1024, 65'535}, {"30000-30000", 30'000, 30'000}}) {
    const auto range = ParsePortRange(one.text);
    ASSERT_TRUE(range.ok()) << one.text;
    EXPECT_EQ(range->first, one.first) << one.text;
    EXPECT_EQ(range->last, one.last) << one.text;
  }
  EXPECT_EQ(ReadPortRange({}).value().first, 20'000);
  EXPECT_EQ(ReadPortRange({}).value().last, 28'000);
  EXPECT_EQ(ReadPortRange({{"NCCL_TUNE_PORT_RANGE", "2000-2001"}}).value().last, 2001);
}

TEST(ParsePortRangeTest, RefusesTheRest) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& one : std::vector<Case>{{"", "not a range of ports"},
                                           {"-", "not a range of ports"},
                                           {"20000", "not a range of ports"},
                                           {"20000-", "not a range of ports"},
                                           {"-20000", "not a range of ports"},
                                           {"20000:28000", "not a range of ports"},
                                           {"20000 - 28000", "not a range of ports"},
                                           {"20000-28000 ", "not a range of ports"},
                                           {"+20000-28000", "not a range of ports"},
                                           {"20000-28000-30000", "not a range of ports"},
                                           {"20000--28000", "not a range of ports"},
                                           {"0x4e20-0x6d60", "not a range of ports"},
                                           {"20000-99999999999", "not a range of ports"},
                                           {"0-0", "port 0"},
                                           {"0-28000", "port 0"},
                                           {"20000-0", "port 0"},
                                           {"28000-20000", "backwards"},
                                           {"1023-28000", "below 1024"},
                                           {"22-80", "below 1024"},
                                           {"20000-65536", "above 65535"},
                                           {"70000-80000", "above 65535"}}) {
    const auto range = ReadPortRange({{"NCCL_TUNE_PORT_RANGE", one.text}});
    ASSERT_FALSE(range.ok()) << one.text;
    EXPECT_THAT(range.error().ToString(), HasSubstr("NCCL_TUNE_PORT_RANGE: ")) << one.text;
    EXPECT_THAT(range.error().ToString(), HasSubstr(one.message)) << one.text;
    EXPECT_THAT(range.error().ToString(), HasSubstr("expected FIRST-LAST")) << one.text;
  }
}

TEST(DescribeOverlapTest, SaysWhichPortsOverlap) {
  struct Case {
    PortRange range;
    bool overlaps;
  };
  for (const Case& one : std::vector<Case>{{{20'000, 28'000}, false},
                                           {{20'000, 32'767}, false},
                                           {{20'000, 32'768}, true},
                                           {{40'000, 40'000}, true},
                                           {{60'999, 65'535}, true},
                                           {{61'000, 65'535}, false},
                                           {{1024, 65'535}, true}}) {
    EXPECT_EQ(!DescribeOverlap(one.range, 32'768, 60'999).empty(), one.overlaps) << one.range.first;
  }
  EXPECT_THAT(DescribeOverlap({40'000, 40'007}, 32'768, 60'999),
              HasSubstr("40000 to 40007 are used, but the kernel gives those from 32768 to 60999"));
}

TEST(StartPortTest, LiesInTheRangeAndSpreads) {
  const PortRange range;
  std::set<std::uint16_t> ports;
  for (int job = 1; job <= 20; ++job) {
    for (int step = 0; step < 5; ++step) {
      const std::uint16_t port = StartPort(range, std::to_string(job), std::to_string(step), 1000);
      EXPECT_GE(port, range.first);
      EXPECT_LE(port, range.last);
      ports.insert(port);
    }
  }
  EXPECT_GT(ports.size(), 95U);
  EXPECT_NE(StartPort(range, "1", "0", 1), StartPort(range, "1", "0", 2));
  EXPECT_EQ(StartPort({.first = 65'535, .last = 65'535}, "1", "0", 1), 65'535);
}

TEST(ClaimPortTest, HoldsAPortAndGivesItBack) {
  const std::uint16_t port = FreePort();
  const PortRange alone{.first = port, .last = port};
  {
    const auto claim = ClaimPort(alone, port, AtExec::kClosed);
    ASSERT_TRUE(claim.ok()) << claim.error().ToString();
    EXPECT_EQ(claim->port(), port);
    const auto second = ClaimPort(alone, port, AtExec::kClosed);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, base::Code::kNotFound);
    const std::string text = second.error().ToString();
    EXPECT_THAT(text, HasSubstr("MASTER_PORT: none of the 1 ports from " + std::to_string(port)));
    EXPECT_THAT(text, HasSubstr("1 claimed by other nccl-launch of user " + std::to_string(getuid())));
    EXPECT_THAT(text, HasSubstr(", 0 in use by other programs. Wait for"));
    EXPECT_THAT(text, HasSubstr("widen NCCL_TUNE_PORT_RANGE, or set MASTER_PORT yourself"));
  }
  EXPECT_TRUE(ClaimPort(alone, port, AtExec::kClosed).ok());
}

TEST(ClaimPortTest, IsAnsweredWhosItIsHoweverOftenOneAsks) {
  const std::uint16_t port = FreePort();
  const PortRange alone{.first = port, .last = port};
  const auto claim = ClaimPort(alone, port, AtExec::kClosed);
  ASSERT_TRUE(claim.ok());
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(ClaimPort(alone, port, AtExec::kClosed).ok());
}

TEST(ClaimPortTest, RefusesAPortThatTcpHas) {
  for (const int family : {AF_INET, AF_INET6}) {
    for (const bool listens : {false, true}) {
      const Taken taken(family);
      if (taken.port() == 0) continue;  // no IPv6 here
      ASSERT_TRUE(!listens || listen(taken.descriptor(), 1) == 0);
      const auto claim = ClaimPort(taken.Alone(), taken.port(), AtExec::kClosed);
      ASSERT_FALSE(claim.ok()) << family;
      EXPECT_THAT(claim.error().ToString(), HasSubstr("0 claimed by other nccl-launch, 1 in use")) << family;
      // The claim was dropped again.
      const auto name = BindClaim(taken.port());
      ASSERT_TRUE(name.ok());
      close(*name);
    }
  }
}

TEST(ClaimPortTest, GoesAroundTheRange) {
  const Taken taken;
  if (taken.port() < 1025 || taken.port() > 65'000) GTEST_SKIP() << "at the edge: port " << taken.port();
  const PortRange range{.first = static_cast<std::uint16_t>(taken.port() - 1), .last = taken.port()};
  const auto before = ClaimPort(range, taken.port(), AtExec::kClosed);
  ASSERT_TRUE(before.ok()) << before.error().ToString();
  EXPECT_EQ(before->port(), range.first);
}

// A connection that this end closed first.
TEST(ClaimPortTest, RefusesAPortInTimeWait) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), length), 0);
  const int accepted = accept(listener, nullptr, nullptr);
  close(listener);
  close(accepted);
  char end = 0;
  ASSERT_EQ(read(client, &end, 1), 0);
  close(client);
  const std::uint16_t port = ntohs(address.sin_port);
  EXPECT_FALSE(ClaimPort({.first = port, .last = port}, port, AtExec::kClosed).ok());
}

TEST(PortClaimTest, MovesItsDescriptor) {
  const std::uint16_t port = FreePort();
  auto claimed = ClaimPort({.first = port, .last = port}, port, AtExec::kClosed);
  ASSERT_TRUE(claimed.ok());
  PortClaim first = std::move(claimed).value();
  PortClaim second = std::move(first);
  EXPECT_EQ(first.descriptor(), -1);
  EXPECT_EQ(first.port(), 0);
  PortClaim third;
  third = std::move(second);
  EXPECT_EQ(third.port(), port);
  const int descriptor = third.Release();
  EXPECT_GE(fcntl(descriptor, F_GETFD), 0);
  close(descriptor);
}

}  // namespace
}  // namespace nccl_tune::launcher
