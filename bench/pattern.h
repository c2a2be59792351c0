// SPDX-License-Identifier: Apache-2.0
//
// What the ranks send, and what a reduction of it over all ranks must give, for each element by a closed formula: the
// check costs the same for 2 ranks and for 20,000. constexpr: the GPU's kernels use the same code.
//
// Each element depends on seed, rank and index, so a result of another iteration, a rank left out or counted twice, and
// data at the wrong place are all seen. Over the ranks a value runs through a cycle of 7 steps whose start is drawn
// from seed and index.
//
// Integers are exact, in the type's own wrap-around arithmetic. Floating-point sums are exact as long as every partial
// sum fits the significand; beyond, any order of n-1 additions is off by at most n*u*|sum| (u: half a unit in the last
// place relative to 1; Higham, Accuracy and Stability of Numerical Algorithms, 4.2), which is the tolerance then. An
// average by n, n no power of two, has one more rounding each. Products are of powers of two and minus one: exact.
#ifndef NCCL_TUNE_BENCH_PATTERN_H_
#define NCCL_TUNE_BENCH_PATTERN_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "bench/number.h"
#include "bench/types.h"

namespace nccl_tune::bench {

inline constexpr std::uint64_t kCycle = 7;

// splitmix64's finaliser.
constexpr std::uint64_t Mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = index + seed * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

template <typename T>
class IntegerPattern {
 public:
  constexpr IntegerPattern(ReduceOp op, std::uint64_t seed, std::uint64_t ranks) : op_(op), seed_(seed), ranks_(ranks) {
    for (std::uint64_t phase = 0; phase < kCycle; ++phase) totals_[phase] = Total(phase);
  }

  constexpr T Value(std::uint64_t rank, std::uint64_t index) const {
    const std::uint64_t mix = Mix(seed_, index);
    return Wrap(Base(mix) + Step((mix + rank) % kCycle));
  }

  constexpr T Expected(std::uint64_t index) const {
    const std::uint64_t mix = Mix(seed_, index);
    const std::uint64_t total = totals_[mix % kCycle];
    if (op_ == ReduceOp::kAvg) return Divide(Wrap(total), ranks_);
    if (op_ == ReduceOp::kSum) return Wrap(Base(mix) * ranks_ + total);
    return Wrap(Base(mix) + total);
  }

  constexpr bool Accepts(std::uint64_t index, T got) const { return got == Expected(index); }

  // What "average" means for integers: the wrapped sum, divided, cut towards zero.
  static constexpr T Divide(T sum, std::uint64_t ranks) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<std::int64_t>(sum) / static_cast<std::int64_t>(ranks));
    } else {
      return static_cast<T>(static_cast<std::uint64_t>(sum) / ranks);
    }
  }

 private:
  static constexpr T Wrap(std::uint64_t value) { return static_cast<T>(value); }

  // The part that is the same for all ranks. For max and min it leaves room for the step; sums may wrap around.
  constexpr std::uint64_t Base(std::uint64_t mix) const {
    if (op_ == ReduceOp::kSum) return mix << 3U;
    if (op_ == ReduceOp::kAvg || op_ == ReduceOp::kProd) return 0;
    constexpr int kBits = std::numeric_limits<std::make_unsigned_t<T>>::digits;
    const std::uint64_t low = mix >> static_cast<unsigned>(64 - kBits + 2);
    return std::is_signed_v<T> ? low - (std::uint64_t{1} << static_cast<unsigned>(kBits - 3)) : low;
  }

  constexpr std::uint64_t Step(std::uint64_t phase) const { return op_ == ReduceOp::kProd ? 2 * phase + 1 : phase + 1; }

  // The steps of all ranks, reduced.
  constexpr std::uint64_t Total(std::uint64_t phase) const {
    const bool product = op_ == ReduceOp::kProd;
    const bool extreme = op_ == ReduceOp::kMax || op_ == ReduceOp::kMin;
    std::uint64_t total = extreme ? Step(phase) : (product ? 1 : 0);
    const std::uint64_t rest = extreme ? (ranks_ < kCycle ? ranks_ : kCycle) : ranks_ % kCycle;
    for (std::uint64_t rank = 0; rank < rest; ++rank) total = Combine(total, Step((phase + rank) % kCycle));
    if (extreme) return total;
    std::uint64_t cycle = product ? 1 : 0;
    for (std::uint64_t step = 0; step < kCycle; ++step) cycle = Combine(cycle, Step(step));
    if (!product) return total + cycle * (ranks_ / kCycle);
    for (std::uint64_t left = ranks_ / kCycle; left > 0; left >>= 1U, cycle *= cycle) {
      if ((left & 1U) != 0) total *= cycle;
    }
    return total;
  }

  constexpr std::uint64_t Combine(std::uint64_t a, std::uint64_t b) const {
    if (op_ == ReduceOp::kProd) return a * b;
    if (op_ == ReduceOp::kMax) return a > b ? a : b;
    if (op_ == ReduceOp::kMin) return a < b ? a : b;
    return a + b;
  }

  ReduceOp op_;
  std::uint64_t seed_;
  std::uint64_t ranks_;
  std::uint64_t totals_[kCycle] = {};
};

template <typename T>
class RealPattern {
 public:
  constexpr RealPattern(ReduceOp op, std::uint64_t seed, std::uint64_t ranks) : op_(op), seed_(seed), ranks_(ranks) {
    for (std::uint64_t phase = 0; phase < kCycle; ++phase) totals_[phase] = Total(phase);
  }

  constexpr T Value(std::uint64_t rank, std::uint64_t index) const {
    const std::uint64_t mix = Mix(seed_, index);
    return FromDouble<T>(Step((mix + rank) % kCycle) * Scale(mix));
  }

  constexpr T Expected(std::uint64_t index) const { return FromDouble<T>(Wide(Mix(seed_, index))); }

  constexpr bool Accepts(std::uint64_t index, T got) const {
    const double wide = Wide(Mix(seed_, index));
    const double is = ToDouble(got);
    if (is == ToDouble(FromDouble<T>(wide))) return true;
    const double off = is > wide ? is - wide : wide - is;
    return off <= Tolerance(Mix(seed_, index) % kCycle) * (wide < 0 ? -wide : wide);
  }

  static constexpr T Divide(T sum, std::uint64_t ranks) {
    return FromDouble<T>(ToDouble(sum) / static_cast<double>(ranks));
  }

 private:
  constexpr double Step(std::uint64_t phase) const {
    constexpr double kFactors[kCycle] = {1, 2, 1, 0.5, 1, -1, 1};
    if (op_ == ReduceOp::kProd) return kFactors[phase];
    const auto step = static_cast<double>(phase);
    return op_ == ReduceOp::kMax || op_ == ReduceOp::kMin ? step - 3 : step + 1;
  }

  constexpr double Scale(std::uint64_t mix) const {
    return op_ == ReduceOp::kProd ? 1.0 : PowerOfTwo(-static_cast<int>((mix >> 32U) & 3U));
  }

  constexpr double Wide(std::uint64_t mix) const {
    const double total = totals_[mix % kCycle] * Scale(mix);
    return op_ == ReduceOp::kAvg ? total / static_cast<double>(ranks_) : total;
  }

  // Relative to the result.
  constexpr double Tolerance(std::uint64_t phase) const {
    const bool sums = op_ == ReduceOp::kSum || op_ == ReduceOp::kAvg;
    const bool fits = totals_[phase] <= PowerOfTwo(kSignificand<T>);
    const bool divides = op_ == ReduceOp::kAvg && (ranks_ & (ranks_ - 1)) != 0;
    if (!sums || (fits && !divides)) return 0;
    return static_cast<double>(ranks_ + (divides ? 1 : 0)) * PowerOfTwo(-kSignificand<T>);
  }

  constexpr double Total(std::uint64_t phase) const {
    const bool product = op_ == ReduceOp::kProd;
    const bool extreme = op_ == ReduceOp::kMax || op_ == ReduceOp::kMin;
    double total = extreme ? Step(phase) : (product ? 1 : 0);
    const std::uint64_t rest = extreme ? (ranks_ < kCycle ? ranks_ : kCycle) : ranks_ % kCycle;
    for (std::uint64_t rank = 0; rank < rest; ++rank) total = Combine(total, Step((phase + rank) % kCycle));
    const std::uint64_t cycles = ranks_ / kCycle;
    if (extreme) return total;
    if (product) return (cycles & 1U) != 0 ? -total : total;  // the product of kFactors is -1
    return total + 28 * static_cast<double>(cycles);          // 1 + 2 + ... + 7
  }

  constexpr double Combine(double a, double b) const {
    if (op_ == ReduceOp::kProd) return a * b;
    if (op_ == ReduceOp::kMax) return a > b ? a : b;
    if (op_ == ReduceOp::kMin) return a < b ? a : b;
    return a + b;
  }

  ReduceOp op_;
  std::uint64_t seed_;
  std::uint64_t ranks_;
  double totals_[kCycle] = {};
};

template <typename T>
using Pattern = std::conditional_t<std::is_integral_v<T>, IntegerPattern<T>, RealPattern<T>>;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PATTERN_H_
