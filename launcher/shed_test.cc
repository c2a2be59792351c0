// SPDX-License-Identifier: Apache-2.0
#include "launcher/shed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace nccl_tune::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Shed, OnlyCodeOfFiles) {
  EXPECT_THAT(CodeRanges("55d0-55d8 r--p 00000000 fe:00 12   /usr/bin/x\n"
                         "55d8-55f0 r-xp 00008000 fe:00 12   /usr/bin/x\n"
                         "55f0-55f1 rw-p 00020000 fe:00 12   /usr/bin/x\n"
                         "7f00-7f10 r-xp 00001000 fe:00 13   /usr/lib/with a blank.so\n"),
              ElementsAre(Pair(0x55d8, 0x55f0), Pair(0x7f00, 0x7f10)));
}

TEST(Shed, EverythingElseStays) {
  for (const char* text :
       {"", "\n", "x", "55d8-55f0", "55d8-55f0 r-xp", "55d8-55f0 r-xp 0 0 0 ", "55d8-55f0 rwxp 0 fe:00 1 /x",
        "55d8-55f0 r-xs 0 fe:00 1 /x", "7ffe-7fff r-xp 00000000 00:00 0 [vdso]", "zz-55f0 r-xp 0 fe:00 1 /x",
        "55f0-55d8 r-xp 0 fe:00 1 /x", "55d8-55d8 r-xp 0 fe:00 1 /x", "-55f0 r-xp 0 fe:00 1 /x",
        "55d855f0 r-xp 0-0 fe:00 1 /x", "123456789abcdef01-2 r-xp 0 fe:00 1 /x"}) {
    EXPECT_THAT(CodeRanges(text), IsEmpty()) << text;
  }
}

TEST(Shed, ProcessGoesOnWithLess) {
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long all = 0;
    long pages = 0;
    file >> all >> pages;
    return pages;
  };
  std::string big(16U << 20U, 'x');
  EXPECT_EQ(std::count(big.begin(), big.end(), 'x'), 16 << 20);
  big.clear();
  big.shrink_to_fit();
  const long before = resident();
  ShedMemory();
  EXPECT_LT(resident(), before);
}

}  // namespace
}  // namespace nccl_tune::launcher
