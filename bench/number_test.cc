// SPDX-License-Identifier: Apache-2.0
#include "bench/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nccl_tune::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

TEST(NumberTest, EveryF8e5m2IsTheUpperHalfOfAHalf) {
  for (std::uint32_t bits = 0; bits < 0x100; ++bits) {
    const F8e5m2 number{static_cast<std::uint8_t>(bits)};
    const double same = ToDouble(Half{static_cast<std::uint16_t>(bits << 8U)});
    if (std::isnan(same)) {
      EXPECT_TRUE(std::isnan(ToDouble(number)));
      EXPECT_TRUE(std::isnan(ToDouble(FromDouble<F8e5m2>(same))));
    } else {
      ASSERT_EQ(ToDouble(number), same);
      ASSERT_EQ(FromDouble<F8e5m2>(same).bits, std::isinf(same) ? bits - 1 : bits);
    }
  }
}

TEST(NumberTest, EveryF8e4m3IsItsFractionTimesAPowerOfTwo) {
  for (std::uint32_t bits = 0; bits < 0x100; ++bits) {
    const double number = ToDouble(F8e4m3{static_cast<std::uint8_t>(bits)});
    if ((bits & 0x7fU) == 0x7f) {
      EXPECT_TRUE(std::isnan(number)) << bits;
      EXPECT_EQ(FromDouble<F8e4m3>(number).bits & 0x7fU, 0x7fU);
      continue;
    }
    const int exponent = static_cast<int>(bits >> 3U & 15U);
    const int fraction = static_cast<int>(bits & 7U);
    const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
    ASSERT_EQ(number, (bits & 0x80U) != 0 ? -size : size);
    ASSERT_EQ(FromDouble<F8e4m3>(number).bits, bits);
  }
}

// The code of the finite number nearest to `value`, of two the even one, by looking at all.
template <typename T>
std::uint8_t Nearest(double value) {
  std::uint32_t best = 0;
  double least = kInfinity;
  for (std::uint32_t bits = 0; bits < 0x80; ++bits) {
    const double number = ToDouble(T{static_cast<std::uint8_t>(bits)});
    if (!std::isfinite(number)) continue;
    const double off = std::abs(std::abs(value) - number);
    if (off > least || (off == least && bits % 2 != 0)) continue;
    best = bits;
    least = off;
  }
  return static_cast<std::uint8_t>(std::signbit(value) ? best | 0x80U : best);
}

TEST(NumberTest, EightBitsAreTheNearestOfAll) {
  std::vector<double> values = {0.0, -0.0, 1e6, -1e6, 5e-324, 1e-310, 447.9, 463.99, 464, 465, 57344, 61439, 61441};
  for (std::uint32_t bits = 0; bits < 0x7f; ++bits) {
    for (const double low :
         {ToDouble(F8e4m3{static_cast<std::uint8_t>(bits)}), ToDouble(F8e5m2{static_cast<std::uint8_t>(bits)})}) {
      if (!std::isfinite(low)) continue;
      for (const double part : {0.001, 0.0625, 0.1249, 0.125, 0.1251, 0.25, 0.3}) {
        for (const double value : {low * (1 + part), low + part * 0x1p-9, low + part * 0x1p-16}) {
          values.push_back(value);
          values.push_back(-value);
        }
      }
    }
  }
  for (const double value : values) {
    ASSERT_EQ(FromDouble<F8e4m3>(value).bits, Nearest<F8e4m3>(value)) << value;
    ASSERT_EQ(FromDouble<F8e5m2>(value).bits, Nearest<F8e5m2>(value)) << value;
  }
}

TEST(NumberTest, RoundsToTheNearestEven) {
  struct Case {
    double value;
    std::uint16_t half;
    std::uint16_t bfloat16;
  };
  for (const Case& one :
       {Case{0.0, 0x0000, 0x0000},         Case{-0.0, 0x8000, 0x8000},      Case{1.0, 0x3c00, 0x3f80},
        Case{-2.0, 0xc000, 0xc000},        Case{65504, 0x7bff, 0x4780},     Case{65519.99, 0x7bff, 0x4780},
        Case{65520, 0x7c00, 0x4780},       Case{kInfinity, 0x7c00, 0x7f80}, Case{-1e300, 0xfc00, 0xff80},
        Case{2049, 0x6800, 0x4500},        Case{2051, 0x6802, 0x4500},      Case{257, 0x5c04, 0x4380},
        Case{259, 0x5c0c, 0x4382},         Case{0x1p-24, 0x0001, 0x3380},   Case{0x1p-25, 0x0000, 0x3300},
        Case{0x1.8p-25, 0x0001, 0x3340},   Case{0x1p-14, 0x0400, 0x3880},   Case{0x1.ff8p-15, 0x03ff, 0x3880},
        Case{0x1.ffcp-15, 0x0400, 0x3880}, Case{0x1p-149, 0x0000, 0x0000},  Case{0x1p-133, 0x0000, 0x0001},
        Case{1e-310, 0x0000, 0x0000}}) {
    EXPECT_EQ(FromDouble<Half>(one.value).bits, one.half) << one.value;
    EXPECT_EQ(FromDouble<Bfloat16>(one.value).bits, one.bfloat16) << one.value;
  }
}

TEST(NumberTest, EightBitsSaturateAndKeepWhatIsNoNumber) {
  struct Case {
    double value;
    std::uint8_t e4m3;
    std::uint8_t e5m2;
  };
  for (const Case& one :
       {Case{kInfinity, 0x7e, 0x7b}, Case{-kInfinity, 0xfe, 0xfb}, Case{448, 0x7e, 0x5f}, Case{480, 0x7e, 0x60},
        Case{-1e9, 0xfe, 0xfb}, Case{61440, 0x7e, 0x7b}, Case{65536, 0x7e, 0x7b}, Case{0x1p-10, 0x00, 0x14},
        Case{0x1.1p-10, 0x01, 0x14}, Case{0x1p-17, 0x00, 0x00}, Case{0x1.8p-17, 0x00, 0x01}, Case{-0.0, 0x80, 0x80}}) {
    EXPECT_EQ(FromDouble<F8e4m3>(one.value).bits, one.e4m3) << one.value;
    EXPECT_EQ(FromDouble<F8e5m2>(one.value).bits, one.e5m2) << one.value;
  }
  EXPECT_EQ(FromDouble<F8e4m3>(std::nan("")).bits, 0x7f);
  EXPECT_EQ(FromDouble<F8e5m2>(std::nan("")).bits, 0x7f);
  EXPECT_EQ(FromDouble<F8e4m3>(-std::nan("")).bits, 0xff);
}

TEST(NumberTest, TheLeastNumberIsTheOneOfCodeOne) {
  EXPECT_EQ(kLeast<float>, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(kLeast<double>, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(kLeast<Half>, ToDouble(Half{1}));
  EXPECT_EQ(kLeast<Bfloat16>, ToDouble(Bfloat16{1}));
  EXPECT_EQ(kLeast<F8e4m3>, ToDouble(F8e4m3{1}));
  EXPECT_EQ(kLeast<F8e5m2>, ToDouble(F8e5m2{1}));
}

}  // namespace
}  // namespace nccl_tune::bench
