// SPDX-License-Identifier: Apache-2.0
#include "bench/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nccl_tune::bench {
namespace {

TEST(NumberTest, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const double wide = ToDouble(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(ToDouble(FromDouble<Half>(wide))));
    } else {
      ASSERT_EQ(FromDouble<Half>(wide).bits, bits);
    }
  }
}

TEST(NumberTest, EveryBfloat16IsTheUpperHalfOfAFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double wide = ToDouble(Bfloat16{static_cast<std::uint16_t>(bits)});
    const float same = std::bit_cast<float>(bits << 16U);
    if (std::isnan(same)) {
      EXPECT_TRUE(std::isnan(wide));
    } else {
      ASSERT_EQ(wide, static_cast<double>(same));
      ASSERT_EQ(FromDouble<Bfloat16>(wide).bits, bits);
    }
  }
}

TEST(NumberTest, RoundsToTheNearestEven) {
  struct Case {
    double value;
    std::uint16_t half;
    std::uint16_t bfloat16;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Case& one :
       {Case{0.0, 0x0000, 0x0000},         Case{-0.0, 0x8000, 0x8000},     Case{1.0, 0x3c00, 0x3f80},
        Case{-2.0, 0xc000, 0xc000},        Case{65504, 0x7bff, 0x4780},    Case{65519.99, 0x7bff, 0x4780},
        Case{65520, 0x7c00, 0x4780},       Case{infinity, 0x7c00, 0x7f80}, Case{-1e300, 0xfc00, 0xff80},
        Case{2049, 0x6800, 0x4500},        Case{2051, 0x6802, 0x4500},     Case{257, 0x5c04, 0x4380},
        Case{259, 0x5c0c, 0x4382},         Case{0x1p-24, 0x0001, 0x3380},  Case{0x1p-25, 0x0000, 0x3300},
        Case{0x1.8p-25, 0x0001, 0x3340},   Case{0x1p-14, 0x0400, 0x3880},  Case{0x1.ff8p-15, 0x03ff, 0x3880},
        Case{0x1.ffcp-15, 0x0400, 0x3880}, Case{0x1p-149, 0x0000, 0x0000}, Case{0x1p-133, 0x0000, 0x0001},
        Case{1e-310, 0x0000, 0x0000}}) {
    EXPECT_EQ(FromDouble<Half>(one.value).bits, one.half) << one.value;
    EXPECT_EQ(FromDouble<Bfloat16>(one.value).bits, one.bfloat16) << one.value;
  }
}

}  // namespace
}  // namespace nccl_tune::bench
