// SPDX-License-Identifier: Apache-2.0
#include "spank/socket_address.h"

#include <gtest/gtest.h>

namespace nccl_tune::spank {
namespace {

TEST(SocketAddressTest, BothFamilies) {
  for (const char* text : {"10.1.2.3", "255.0.0.1", "fd00::1:2", "2001:db8::ffff"}) {
    const auto address = *facts::ParseIpAddress(text);
    const SocketAddress made = MakeSocketAddress(address, 40000);
    EXPECT_EQ(made.family(), address.IsV4() ? AF_INET : AF_INET6);
    EXPECT_EQ(made.length, address.IsV4() ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    EXPECT_EQ(PortOf(made), 40000);
  }
}

TEST(SocketAddressTest, BytesInNetworkOrder) {
  const SocketAddress v4 = MakeSocketAddress(*facts::ParseIpAddress("10.1.2.3"), 258);
  const auto* in = reinterpret_cast<const sockaddr_in*>(v4.get());
  EXPECT_EQ(in->sin_addr.s_addr, htonl(0x0a010203));
  EXPECT_EQ(in->sin_port, htons(258));
  const SocketAddress v6 = MakeSocketAddress(*facts::ParseIpAddress("fd00::1"), 258);
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(v6.get());
  EXPECT_EQ(in6->sin6_addr.s6_addr[0], 0xfd);
  EXPECT_EQ(in6->sin6_addr.s6_addr[15], 1);
}

}  // namespace
}  // namespace nccl_tune::spank
