// SPDX-License-Identifier: Apache-2.0
//
// Soft conversion between double and the types of the benchmark, right to the last bit (IEEE 754-2019, 4.3.1: round to
// nearest, ties to even) for those that the host compiler does not have. What is too large becomes infinity, in 8 bits
// the largest number: NCCL converts by CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2, which saturate (__NV_SATFINITE, CUDA
// Math API, "FP8 Intrinsics"). constexpr: the GPU's kernels use the same code.
#ifndef NCCL_TUNE_BENCH_NUMBER_H_
#define NCCL_TUNE_BENCH_NUMBER_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "bench/types.h"

namespace nccl_tune::bench {

template <typename T>
inline constexpr int kExponentBits = 0;
template <>
inline constexpr int kExponentBits<float> = 8;
template <>
inline constexpr int kExponentBits<double> = 11;
template <int kBits>
inline constexpr int kExponentBits<Small<kBits>> = kBits;
template <int kBits>
inline constexpr int kExponentBits<Tiny<kBits>> = kBits;

template <typename T>
concept Soft = !std::is_arithmetic_v<T> && kExponentBits<T> > 0;

// Bits of the significand, the hidden one included: integers up to 2 to that power are exact.
template <typename T>
inline constexpr int kSignificand = std::is_integral_v<T> ? 0 : static_cast<int>(8 * sizeof(T)) - kExponentBits<T>;

// 2 to the power of `exponent`, which must be that of a normal double.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// The least number above 0 of a floating-point type narrower than double: the spacing of the subnormal numbers.
template <typename T>
inline constexpr double kLeast = PowerOfTwo(3 - (1 << (kExponentBits<T> - 1)) - kSignificand<T>);
template <>
inline constexpr double kLeast<double> = 0x1p-1074;

template <typename T>
using BitsOfType =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// A number as it lies in memory, and back.
template <typename T>
constexpr BitsOfType<T> ToBits(T number) {
  return std::bit_cast<BitsOfType<T>>(number);
}
template <typename T>
constexpr T FromBits(BitsOfType<T> bits) {
  return std::bit_cast<T>(bits);
}

// How a soft type lies in memory.
template <Soft T>
struct Layout {
  static constexpr int kFraction = kSignificand<T> - 1;
  static constexpr int kTop = (1 << kExponentBits<T>)-1;
  static constexpr int kBias = kTop / 2;
  static constexpr std::uint32_t kSign = 1U << (8 * sizeof(T) - 1);
  static constexpr bool kHasInfinity = !std::is_same_v<T, F8e4m3>;
  static constexpr bool kSaturates = sizeof(T) == 1;
  static constexpr std::uint32_t kInfinity = static_cast<std::uint32_t>(kTop) << kFraction;  // where there is one
  static constexpr std::uint32_t kLargest = kHasInfinity ? kInfinity - 1 : kSign - 2;
  static constexpr int kLargestExponent = kHasInfinity ? kBias : kBias + 1;
};

template <Soft T>
constexpr double ToDouble(T number) {
  using L = Layout<T>;
  const bool negative = (number.bits & L::kSign) != 0;
  const std::uint32_t size = number.bits & (L::kSign - 1);
  if (size > L::kLargest) {
    if (!L::kHasInfinity || size > L::kInfinity) return std::bit_cast<double>(0x7ff8000000000000U);
    return std::bit_cast<double>(negative ? 0xfff0000000000000U : 0x7ff0000000000000U);
  }
  const int exponent = static_cast<int>(size >> L::kFraction);
  const int fraction = static_cast<int>(size & ((1U << L::kFraction) - 1));
  const double value = exponent == 0
                           ? fraction * PowerOfTwo(1 - L::kBias - L::kFraction)
                           : (fraction + (1 << L::kFraction)) * PowerOfTwo(exponent - L::kBias - L::kFraction);
  return negative ? -value : value;
}

template <typename T>
requires std::is_arithmetic_v<T>
constexpr double ToDouble(T number) { return static_cast<double>(number); }

// `scaled` rounded to an integer, to nearest, ties to even. 0 <= scaled < 2^32.
constexpr std::uint32_t RoundToEven(double scaled) {
  const auto whole = static_cast<std::uint32_t>(scaled);
  const double rest = scaled - whole;
  const bool up = rest > 0.5 || (rest == 0.5 && (whole & 1U) != 0);
  return whole + (up ? 1U : 0U);
}

template <Soft T>
constexpr T ToSoft(double value) {
  using L = Layout<T>;
  const auto raw = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = (raw >> 63U) != 0 ? L::kSign : 0;
  const int exponent = static_cast<int>((raw >> 52U) & 0x7ffU) - 1023;
  constexpr std::uint32_t kTooLarge = L::kSaturates ? L::kLargest : L::kInfinity;
  if (value != value) return FromBits<T>(static_cast<BitsOfType<T>>(sign | (L::kSign - 1)));
  if (exponent > L::kLargestExponent) return FromBits<T>(static_cast<BitsOfType<T>>(sign | kTooLarge));
  // The spacing of the target's numbers around `value`; a carry out of the fraction runs into the exponent as it
  // should.
  const int low = exponent < 1 - L::kBias ? 1 - L::kBias : exponent;
  const double size = std::bit_cast<double>(raw & 0x7fffffffffffffffU);
  const std::uint32_t base = static_cast<std::uint32_t>(low + L::kBias - 1) << L::kFraction;
  const std::uint32_t rounded = base + RoundToEven(size * PowerOfTwo(L::kFraction - low));
  return FromBits<T>(static_cast<BitsOfType<T>>(sign | (rounded > L::kLargest ? kTooLarge : rounded)));
}

// The T nearest to `value`; T is a floating-point type.
template <typename T>
constexpr T FromDouble(double value) {
  if constexpr (Soft<T>) {
    return ToSoft<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NUMBER_H_
