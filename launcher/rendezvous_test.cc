// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous.h"

#include <gtest/gtest.h>

namespace nccl_tune::launcher {
namespace {

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
