// SPDX-License-Identifier: Apache-2.0
#include "hw/elf_number.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace nccl_tune::hw {
namespace {

// The plugin itself: what Slurm reads there is what the linker put there. Read once: a sanitizer makes it large.
const std::string& Plugin() {
  static const std::string bytes = [] {
    std::ifstream in("spank/spank_nccl_tune.so", std::ios::binary | std::ios::ate);
    std::string out(static_cast<std::size_t>(in.tellg()), '\0');
    in.seekg(0);
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    return out;
  }();
  return bytes;
}

TEST(ElfNumberTest, ReadsWhatTheLoaderWould) {
  const auto version = ReadElfNumber(Plugin(), "spank_plugin_version");
  ASSERT_TRUE(version.ok()) << version.error().ToString();
  EXPECT_EQ(*version, 1U);
  const auto slurm = ReadElfNumber(Plugin(), "plugin_version");
  ASSERT_TRUE(slurm.ok()) << slurm.error().ToString();
  EXPECT_GE(*slurm >> 16, 22U);
}

TEST(ElfNumberTest, WhatIsNotThere) {
  for (const char* name : {"plugin_versio", "plugin_version2", "", "slurm_error"}) {
    const auto got = ReadElfNumber(Plugin(), name);
    EXPECT_FALSE(got.ok() && *name != '\0') << name;
  }
  EXPECT_EQ(ReadElfNumber(Plugin(), "gone").error().what, "it has no gone");
}

TEST(ElfNumberTest, WhatIsNoLibrary) {
  std::string other = Plugin();
  other[4] = 1;  // 32 bits
  for (const std::string& bytes :
       {std::string(), std::string("\x7f"),
        std::string("\x7f"
                    "ELF"),
        std::string(64, '\0'), std::string(1000, '\xff'), std::string("#!/bin/sh\n"), other}) {
    const auto got = ReadElfNumber(bytes, "plugin_version");
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().what, "not a library for 64 bits");
  }
}

TEST(ElfNumberTest, ACutOffOneIsSaidToBeSo) {
  const std::string whole = Plugin();
  for (std::size_t size = 64; size < whole.size(); size += whole.size() / 97 + 1) {
    const auto got = ReadElfNumber(std::string_view(whole).substr(0, size), "plugin_version");
    if (got.ok()) continue;  // the part that counts is there
    EXPECT_EQ(got.error().what, "a library that is cut off") << size;
  }
}

TEST(ElfNumberTest, ChangedBytesDoNoHarm) {
  std::string bytes = Plugin();
  unsigned random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1103515245 + 12345;
    // The headers at both ends are what is followed.
    const std::size_t at = i % 2 == 0 ? random % 512 : bytes.size() - 1 - random % 2048;
    const char before = bytes[at];
    bytes[at] = static_cast<char>(random >> 16);
    (void)ReadElfNumber(bytes, "plugin_version").ok();
    if (i % 3 != 0) bytes[at] = before;
  }
}

}  // namespace
}  // namespace nccl_tune::hw
