// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

namespace nccl_tune::launcher {
namespace {

using ::testing::HasSubstr;

pmix::Step StepOf(const std::string& job, const std::string& step) { return {.job = job, .step = step}; }

TEST(RendezvousTest, StartPortLiesInTheRangeAndSpreads) {
  const PortRange range{.first = 20'000, .last = 28'000};
  std::set<std::uint16_t> ports;
  for (int job = 1; job <= 20; ++job) {
    for (int step = 0; step < 5; ++step) {
      const std::uint16_t port = StartPort(range, StepOf(std::to_string(job), std::to_string(step)), 1000);
      EXPECT_GE(port, range.first);
      EXPECT_LE(port, range.last);
      ports.insert(port);
    }
  }
  EXPECT_GT(ports.size(), 95U);
  EXPECT_NE(StartPort(range, StepOf("1", "0"), 1), StartPort(range, StepOf("1", "0"), 2));
}

TEST(RendezvousTest, SkipsAPortInUseAndSaysWhenAllAre) {
  const int held = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ASSERT_EQ(bind(held, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(held, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::uint16_t taken = ntohs(address.sin_port);
  const auto none = FindFreePort({.first = taken, .last = taken}, taken);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().ToString(), HasSubstr("Set MASTER_PORT yourself"));
  if (taken < 65'000) {
    const auto other = FindFreePort({.first = taken, .last = static_cast<std::uint16_t>(taken + 200)}, taken);
    ASSERT_TRUE(other.ok());
    EXPECT_NE(*other, taken);
  }
  close(held);
}

TEST(RendezvousTest, OnlyOneExactNameIsAnInterface) {
  EXPECT_EQ(ExactInterface({{"NCCL_SOCKET_IFNAME", "=eth0"}}), "eth0");
  for (const char* text : {"", "=", "eth0", "^docker", "=eth0,eth1", "=eth0:1", "^=lo", "==lo", "= lo"}) {
    EXPECT_EQ(ExactInterface({{"NCCL_SOCKET_IFNAME", text}}), std::nullopt) << text;
  }
  EXPECT_EQ(ExactInterface({}), std::nullopt);
}

TEST(RendezvousTest, AddressComesFromThePlanThenTheInterfaceThenTheName) {
  const std::vector<OwnAddress> own = {{"eno1", "10.0.0.11"}, {"ens5f1", "172.20.0.11"}, {"ens5f1", "fd00::11"}};
  const auto plan = [](const std::string& address) { return R"({"v":1,"set":{},"if":"e","addr":")" + address + "\"}"; };
  EXPECT_EQ(
      BootstrapAddress({{"NCCL_TUNE_PLAN", plan("172.20.0.11")}, {"NCCL_SOCKET_IFNAME", "=eno1"}}, own, "server1"),
      "172.20.0.11");
  EXPECT_EQ(BootstrapAddress({{"NCCL_SOCKET_IFNAME", "=ens5f1"}}, own, "server1"), "172.20.0.11");
  EXPECT_EQ(BootstrapAddress({{"NCCL_SOCKET_IFNAME", "=no-such-if"}}, own, "server1"), "server1");
  EXPECT_EQ(BootstrapAddress({}, own, "server1"), "server1");
  // Of another node, or no address at all.
  for (const char* text : {"172.20.0.12", "not an addr; x", "\\u001b[0m", "", "127.0.0.1"}) {
    EXPECT_EQ(BootstrapAddress({{"NCCL_TUNE_PLAN", plan(text)}}, own, "server1"), "server1") << text;
    EXPECT_EQ(BootstrapAddress({{"NCCL_TUNE_PLAN", plan(text)}, {"NCCL_SOCKET_IFNAME", "=eno1"}}, own, "server1"),
              "10.0.0.11")
        << text;
  }
}

TEST(RendezvousTest, OwnAddressesAreOnesThatOthersMayReach) {
  for (const auto& address : ListOwnAddresses()) {
    EXPECT_FALSE(address.text.starts_with("127.")) << address.interface;
    EXPECT_FALSE(address.text.starts_with("fe80")) << address.interface;
    EXPECT_NE(address.text, "::1");
  }
}

}  // namespace
}  // namespace nccl_tune::launcher
