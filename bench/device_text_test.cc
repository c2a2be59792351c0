// SPDX-License-Identifier: Apache-2.0
#include "bench/device_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(DeviceTextTest, ThereAndBack) {
  const std::vector<Device> devices = {
      {.rank = 16383,
       .group = 3,
       .process_id = 4194304,
       .host = "n-1.a",
       .index = 7,
       .domain = 0xffffffff,
       .bus = 0x9b,
       .slot = 31,
       .name = "NVIDIA H200"},
      {.rank = std::numeric_limits<std::uint64_t>::max(), .process_id = -1, .index = -1},
  };
  const std::string text = DevicesToText(devices);
  EXPECT_EQ(text,
            "16383\t3\t4194304\t7\t4294967295\t155\t31\tn-1.a\tNVIDIA H200\n"
            "18446744073709551615\t0\t-1\t-1\t0\t0\t0\t\t\n");
  const auto back = DevicesFromText(text);
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  ASSERT_THAT(*back, SizeIs(2));
  EXPECT_EQ(DevicesToText(*back), text);
  EXPECT_EQ((*back)[0].name, "NVIDIA H200");
  EXPECT_EQ((*back)[1].process_id, -1);
  EXPECT_THAT(DevicesFromText("").value_or({Device{}}), SizeIs(0));
}

TEST(DeviceTextTest, NamesCannotBreakALine) {
  EXPECT_EQ(DevicesToText({{.host = "a\tb", .name = "c\nd\x01"}}), "0\t0\t0\t0\t0\t0\t0\ta b\tc d \n");
}

TEST(DeviceTextTest, WhatIsNoDevice) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& one : {
           Case{"\n", "not a device"},
           {"0\n", "not a device: got \"0\""},
           {"0\t0\t0\t0\t0\t0\t0\thost\n", "not a device"},
           {"0\t0\t0\t0\t0\t0\t0\thost\tname\tmore\n", "not a device"},
           {"0\t0\t0\t0\t0\t0\t0\thost\tname", "a line of a device is cut off"},
           {"x\t0\t0\t0\t0\t0\t0\thost\tname\n", "not a device"},
           {"-1\t0\t0\t0\t0\t0\t0\thost\tname\n", "not a device"},
           {"0\t\t0\t0\t0\t0\t0\thost\tname\n", "not a device"},
           {"0\t0\t4294967296\t0\t0\t0\t0\thost\tname\n", "not a device"},
           {"0\t0\t0\t0x1\t0\t0\t0\thost\tname\n", "not a device"},
           {"0\t0\t0\t0\t4294967296\t0\t0\thost\tname\n", "not a device"},
           {"0\t0\t0\t0\t0\t-1\t0\thost\tname\n", "not a device"},
           {"0\t0\t0\t0\t0\t0\t 1\thost\tname\n", "not a device"},
           {"0\t0\t0\t0\t0\t0\t0\thost\tname\nx\n", "not a device: got \"x\""},
       }) {
    const auto devices = DevicesFromText(one.text);
    ASSERT_FALSE(devices.ok()) << one.text;
    EXPECT_THAT(devices.error().ToString(),
                HasSubstr(std::string("what a process tells of its devices: ") + one.message));
  }
}

}  // namespace
}  // namespace nccl_tune::bench
