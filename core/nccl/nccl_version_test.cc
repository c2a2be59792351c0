// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/nccl_version.h"

#include <gtest/gtest.h>

namespace nccl_tune::nccl {
namespace {

TEST(NcclVersionTest, ParsesAndPrints) {
  for (const char* text : {"2.18.1", "2.28.9", "2.32.3", "2.9.0"}) {
    const auto got = ParseNcclVersion(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_EQ(got->ToString(), text);
  }
}

TEST(NcclVersionTest, RefusesOtherText) {
  for (const char* text :
       {"",        "2",        "2.28",    "2.28.",    ".28.9",           "2..9",     "2.28.9.1",
        "v2.28.9", "2.28.9 ",  " 2.28.9", "2.28.9-1", "2.28.9+cuda13.0", "2,28,9",   "-2.28.9",
        "2.-28.9", "2.28.100", "2.28.x",  "22809",    "2.28.9\n",        "0x2.28.9", "99999999999.1.1"}) {
    const auto got = ParseNcclVersion(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().what, "not an NCCL version");
    EXPECT_EQ(got.error().seen, text);
  }
  EXPECT_EQ(ParseNcclVersion("2.28").error().ToString(),
            "not an NCCL version: got \"2.28\", expected a version such as 2.28.9");
}

TEST(NcclVersionTest, ReadsTheCode) {
  EXPECT_EQ(*NcclVersionFromCode(22809), (NcclVersion{2, 28, 9}));
  EXPECT_EQ(*NcclVersionFromCode(21806), (NcclVersion{2, 18, 6}));
  EXPECT_EQ(*NcclVersionFromCode(2804), (NcclVersion{2, 8, 4}));
  EXPECT_EQ(*NcclVersionFromCode(20906), (NcclVersion{2, 9, 6}));
  for (const int bad : {0, -1, -22809, 999, 2904, 9999, 1000000, 2147483647}) {
    EXPECT_FALSE(NcclVersionFromCode(bad).ok()) << bad;
  }
}

TEST(NcclVersionTest, Orders) {
  const NcclVersion v{2, 28, 9};
  EXPECT_LT((NcclVersion{2, 28, 3}), v);
  EXPECT_LT((NcclVersion{2, 9, 10}), v);
  EXPECT_GT((NcclVersion{2, 30, 0}), v);
  EXPECT_GT((NcclVersion{3, 0, 0}), v);
}

TEST(NcclVersionTest, KnowsItsRange) {
  EXPECT_TRUE((NcclVersion{2, 18, 0}).IsKnown());
  EXPECT_TRUE((NcclVersion{2, 32, 3}).IsKnown());
  EXPECT_FALSE((NcclVersion{2, 17, 1}).IsKnown());
  EXPECT_FALSE((NcclVersion{2, 33, 0}).IsKnown());
  EXPECT_FALSE((NcclVersion{3, 20, 0}).IsKnown());
}

}  // namespace
}  // namespace nccl_tune::nccl
