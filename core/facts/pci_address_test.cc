// SPDX-License-Identifier: Apache-2.0
#include "core/facts/pci_address.h"

#include <gtest/gtest.h>

namespace nccl_tune::facts {
namespace {

TEST(PciAddressTest, RoundTrips) {
  for (const char* text : {"0000:03:00.1", "000f:01:00.0", "10000:e1:1f.7", "ffffffff:ff:00.0"}) {
    const auto got = ParsePciAddress(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_EQ(got->ToString(), text);
  }
}

TEST(PciAddressTest, RefusesWhatTheKernelDoesNotWrite) {
  for (const char* text : {"", "03:00.1", "0000:03:00", "0000:03:00.8", "0000:03:20.0", "0000:3:00.1", "0000-03-00.1",
                           "0000:03:00.1 ", " 0000:03:00.1", "000:03:00.1", "123456789:03:00.1", "0000:g3:00.1",
                           "0000:03:00,1", "0x00:03:00.1", "-000:03:00.1", "0000:03:00.1\n", "../../../../etc"}) {
    const auto got = ParsePciAddress(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a PCI address");
    EXPECT_EQ(got.error().seen, text);
  }
}

TEST(PciAddressTest, SlotIgnoresTheFunction) {
  const auto a = *ParsePciAddress("0000:03:00.0");
  EXPECT_TRUE(a.SameSlot(*ParsePciAddress("0000:03:00.1")));
  EXPECT_FALSE(a.SameSlot(*ParsePciAddress("0001:03:00.0")));
  EXPECT_LT(a, *ParsePciAddress("0000:03:00.1"));
}

}  // namespace
}  // namespace nccl_tune::facts
