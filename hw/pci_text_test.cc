// SPDX-License-Identifier: Apache-2.0
#include "hw/pci_text.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::hw {
namespace {

using facts::IommuMode;

TEST(PciTextTest, LinkSpeed) {
  const struct {
    const char* text;
    double value;
  } rows[] = {{"32.0 GT/s PCIe\n", 32}, {"2.5 GT/s PCIe", 2.5}, {"8 GT/s\n", 8}, {"64.0 GT/s PCIe\n", 64}};
  for (const auto& row : rows) {
    const auto got = ParseLinkSpeed(row.text);
    ASSERT_TRUE(got.ok()) << row.text;
    EXPECT_EQ(*got, row.value);
  }
  for (const char* text : {"Unknown", "Unknown\n", "Unknown speed\n"}) {
    const auto got = ParseLinkSpeed(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_FALSE(got->has_value()) << text;
  }
  for (const char* text : {"", "\n", "32", "GT/s", "32GT/s", "32.0 GB/s", "0 GT/s", "-8 GT/s", "inf GT/s", "1e3 GT/s",
                           "1001 GT/s", "fast GT/s", "32.0 GT/s PCI", "unknown", "99999999999999999999 GT/s"}) {
    const auto got = ParseLinkSpeed(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a link speed");
  }
}

TEST(PciTextTest, LinkWidth) {
  for (const int width : {1, 2, 4, 8, 12, 16, 32}) EXPECT_EQ(*ParseLinkWidth(std::to_string(width) + "\n"), width);
  for (const char* text : {"0", "0\n", "63", "255\n"}) EXPECT_FALSE(ParseLinkWidth(text)->has_value()) << text;
  for (const char* text : {"", "x16", "33", "-1", "16.0", "0x10", "99999999999"}) {
    const auto got = ParseLinkWidth(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a link width");
  }
}

TEST(PciTextTest, IommuType) {
  EXPECT_EQ(*ParseIommuType("identity\n"), IommuMode::kIdentity);
  for (const char* text : {"DMA\n", "DMA-FQ\n", "DMA-SQ"}) EXPECT_EQ(*ParseIommuType(text), IommuMode::kTranslated);
  for (const char* text : {"auto\n", "blocked", "DMAX", "Identity"})
    EXPECT_EQ(*ParseIommuType(text), IommuMode::kOther);
  for (const char* text : {"", "\n", " "}) EXPECT_FALSE(ParseIommuType(text).ok());
}

TEST(PciTextTest, TrafficClass) {
  EXPECT_EQ(*ParseTrafficClass("Global tclass=106\n"), 106);
  EXPECT_EQ(*ParseTrafficClass("rule one\nGlobal tclass=0\nrule two\n"), 0);
  for (const char* text : {"", "\n", "tclass=106", "global tclass=106"}) {
    EXPECT_FALSE(ParseTrafficClass(text)->has_value()) << text;
  }
  for (const char* text : {"Global tclass=", "Global tclass=256", "Global tclass=-1", "Global tclass=x",
                           "Global tclass=0x6a", "Global tclass=99999999999"}) {
    const auto got = ParseTrafficClass(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not a traffic class");
  }
}

TEST(PciTextTest, ModuleSwitch) {
  EXPECT_TRUE(*ParseModuleSwitch("Y\n"));
  EXPECT_TRUE(*ParseModuleSwitch("1"));
  EXPECT_FALSE(*ParseModuleSwitch("N\n"));
  EXPECT_FALSE(*ParseModuleSwitch("0"));
  for (const char* text : {"", "y", "yes", "2", "YN"}) EXPECT_FALSE(ParseModuleSwitch(text).ok()) << text;
}

TEST(PciTextTest, NvidiaDriver) {
  const struct {
    const char* text;
    const char* version;
    bool open;
  } rows[] = {
      {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (x@y)\nGCC version: gcc "
       "12.2.0\n",
       "570.86.15", true},
      {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\nGCC version: 1.2\n",
       "535.129.03", false},
      {"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95\n", "580.95", true},
  };
  for (const auto& row : rows) {
    const auto got = ParseNvidiaDriver(row.text);
    ASSERT_TRUE(got.ok()) << row.text;
    EXPECT_EQ(got->version, row.version);
    EXPECT_EQ(got->open, row.open);
  }
  for (const char* text : {"", "\n", "NVRM version:", "NVRM 570", "a . b", ".5", "5.", "x\nNVRM 570.1\n", "1.2a"}) {
    const auto got = ParseNvidiaDriver(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not the version of NVIDIA's driver");
  }
}

}  // namespace
}  // namespace nccl_tune::hw
