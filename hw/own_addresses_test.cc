// SPDX-License-Identifier: Apache-2.0
#include "hw/own_addresses.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nccl_tune::hw {
namespace {

// Whatever the machine has.
TEST(OwnAddressesTest, OnlyWhatOthersCanReach) {
  const auto all = OwnAddresses();
  for (const auto& address : all) {
    EXPECT_TRUE(address.IsRoutable()) << address.ToString();
    EXPECT_EQ(std::count(all.begin(), all.end(), address), 1) << address.ToString();
  }
  EXPECT_TRUE(std::is_partitioned(all.begin(), all.end(), [](const auto& address) { return address.IsV4(); }));
  EXPECT_EQ(OwnAddresses(), all);
}

}  // namespace
}  // namespace nccl_tune::hw
