// SPDX-License-Identifier: Apache-2.0
//
// Soft conversion between double and the types of the benchmark, right to the last bit (round to nearest, ties to
// even) for half and bfloat16, which the host compiler does not have. constexpr: the GPU's kernels use the same code.
#ifndef NCCL_TUNE_BENCH_NUMBER_H_
#define NCCL_TUNE_BENCH_NUMBER_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "bench/types.h"

namespace nccl_tune::bench {

// Bits of the significand, the hidden one included: integers up to 2 to that power are exact.
template <typename T>
inline constexpr int kSignificand = 0;
template <>
inline constexpr int kSignificand<float> = 24;
template <>
inline constexpr int kSignificand<double> = 53;
template <int kExponentBits>
inline constexpr int kSignificand<Small<kExponentBits>> = 16 - kExponentBits;

// 2 to the power of `exponent`, which must be that of a normal double.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

template <int kExponentBits>
constexpr double ToDouble(Small<kExponentBits> number) {
  constexpr int kFraction = 15 - kExponentBits;
  constexpr int kTop = (1 << kExponentBits) - 1;
  constexpr int kBias = kTop / 2;
  const double sign = (number.bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (number.bits >> kFraction) & kTop;
  const int fraction = number.bits & ((1 << kFraction) - 1);
  if (exponent == kTop) {
    return std::bit_cast<double>(fraction != 0 ? 0x7ff8000000000000U
                                               : (sign < 0 ? 0xfff0000000000000U : 0x7ff0000000000000U));
  }
  if (exponent == 0) return sign * fraction * PowerOfTwo(1 - kBias - kFraction);
  return sign * (fraction + (1 << kFraction)) * PowerOfTwo(exponent - kBias - kFraction);
}

template <typename T>
requires std::is_arithmetic_v<T>
constexpr double ToDouble(T number) { return static_cast<double>(number); }

// `value` divided by a power of two, as an integer, rounded to nearest, ties to even. 0 <= value.
constexpr std::uint32_t RoundToEven(double scaled) {
  const auto whole = static_cast<std::uint32_t>(scaled);
  const double rest = scaled - whole;
  const bool up = rest > 0.5 || (rest == 0.5 && (whole & 1U) != 0);
  return whole + (up ? 1U : 0U);
}

template <int kExponentBits>
constexpr Small<kExponentBits> ToSmall(double value) {
  constexpr int kFraction = 15 - kExponentBits;
  constexpr int kTop = (1 << kExponentBits) - 1;
  constexpr int kBias = kTop / 2;
  const auto raw = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((raw >> 48U) & 0x8000U);
  const int exponent = static_cast<int>((raw >> 52U) & 0x7ffU) - 1023;
  const double size = std::bit_cast<double>(raw & 0x7fffffffffffffffU);
  if (value != value) return {static_cast<std::uint16_t>(sign | 0x7fffU)};
  if (exponent > kBias) return {static_cast<std::uint16_t>(sign | (kTop << kFraction))};
  // The spacing of the target's numbers around `value`; a carry out of the fraction runs into the exponent as it
  // should.
  const int low = exponent < 1 - kBias ? 1 - kBias : exponent;
  const std::uint32_t rounded = RoundToEven(size * PowerOfTwo(kFraction - low));
  const std::uint32_t base = static_cast<std::uint32_t>(low + kBias - 1) << kFraction;
  return {static_cast<std::uint16_t>(sign | (base + rounded))};
}

// The T nearest to `value`; T is a floating-point type.
template <typename T>
constexpr T FromDouble(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return ToSmall<5>(value);
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return ToSmall<8>(value);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NUMBER_H_
