// SPDX-License-Identifier: Apache-2.0
//
// Bits drawn from a seed and the index of an element: the source of all data that the benchmark sends. constexpr: the
// GPU's kernels use the same code.
#ifndef NCCL_TUNE_BENCH_DRAWN_H_
#define NCCL_TUNE_BENCH_DRAWN_H_

#include <cstdint>
#include <type_traits>

#include "bench/number.h"

namespace nccl_tune::bench {

// splitmix64's finaliser.
constexpr std::uint64_t Mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = index + seed * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Element `index` of what `rank` sends to be copied: any bits but those of infinities and of no number.
template <typename T>
constexpr T Drawn(std::uint64_t seed, std::uint64_t rank, std::uint64_t index) {
  using Bits = BitsOfType<T>;
  const auto bits = static_cast<Bits>(Mix(seed, index + rank * 0xd1342543de82ef95U) >> (64U - 8U * sizeof(T)));
  if constexpr (std::is_integral_v<T>) {
    return FromBits<T>(bits);
  } else {
    constexpr Bits kLowest = static_cast<Bits>(Bits{1} << static_cast<unsigned>(kSignificand<T> - 1));
    constexpr Bits kExponent = static_cast<Bits>((Bits{1} << (8U * sizeof(T) - 1)) - kLowest);
    return FromBits<T>((bits & kExponent) == kExponent ? static_cast<Bits>(bits ^ kLowest) : bits);
  }
}

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DRAWN_H_
