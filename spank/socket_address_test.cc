// SPDX-License-Identifier: Apache-2.0
#include "spank/socket_address.h"

#include <gtest/gtest.h>

namespace nccl_tune::spank {
namespace {

TEST(SocketAddressTest, BothFamiliesComeBackAsTheyWere) {
  for (const char* text : {"10.1.2.3", "255.0.0.1", "fd00::1:2", "2001:db8::ffff"}) {
    const auto address = *facts::ParseIpAddress(text);
    const SocketAddress made = MakeSocketAddress(address, 40000);
    EXPECT_EQ(made.family(), address.IsV4() ? AF_INET : AF_INET6);
    EXPECT_EQ(made.length, address.IsV4() ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    EXPECT_EQ(PortOf(made), 40000);
    EXPECT_EQ(FromSocketAddress(*made.get()), address);
  }
}

TEST(SocketAddressTest, OtherFamiliesHaveNone) {
  SocketAddress other;
  for (const int family : {AF_UNSPEC, AF_UNIX, AF_PACKET}) {
    other.storage.ss_family = static_cast<sa_family_t>(family);
    EXPECT_EQ(FromSocketAddress(*other.get()), std::nullopt) << family;
  }
}

}  // namespace
}  // namespace nccl_tune::spank
