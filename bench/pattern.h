// SPDX-License-Identifier: Apache-2.0
//
// What the ranks send, and what a reduction of it over all ranks must give, for each element by a closed formula: the
// check costs the same for 2 ranks and for 20,000. constexpr: the GPU's kernels use the same code.
//
// Each element depends on seed, rank and index, so a result of another iteration, a rank left out or counted twice, and
// data at the wrong place are all seen, each at some elements at least. What is only copied is drawn bit by bit.
//
// Expected is what the operation gives in exact arithmetic; the input is chosen so that the type holds it:
// - Integers wrap around, as NCCL's do. An average is the wrapped sum, divided, cut towards zero (NCCL 2.30,
//   src/device/reduce_kernel.h, FuncSumPostDiv).
// - Floating-point sums are of integers times a power of two that is common to the element. As long as no partial sum
// is
//   above 2^p, p the bits of the significand, none is rounded (IEEE 754-2019, 3.3 and 4.3), whatever the order and the
//   width of the accumulator, and the result must be equal. So that this holds for any number of ranks, only every n-th
//   rank contributes to an element, which ones is drawn for each element; the others send 0.
// - mulsum: what rank r sends counts PremulScalar(r) times, which is exact too.
// - Products are of powers of two but for one factor, the maximum and minimum are of small integers: exact.
// - Averages by a power of two are exact as long as the type holds each part. The others are not, and NCCL has two ways
//   (2.30, src/enqueue.cc, hostToDevRedOp, and src/scheduler/symmetric_sched.cc): it multiplies what each rank sends by
//   1/n rounded to the type and sums that, or sums and multiplies by 1/n of the type or wider. With c contributions the
//   first rounds c times, the second at most twice, beyond the rounding of 1/n. k roundings of terms of one sign are
//   off by at most k*u/(1-k*u) of the result, u = 2^-p (Higham, Accuracy and Stability of Numerical Algorithms,
//   lemma 3.1 and 4.2), plus half the spacing of the subnormal numbers for each product (IEEE 754-2019, 4.3.1). c is
//   kept small.
#ifndef NCCL_TUNE_BENCH_PATTERN_H_
#define NCCL_TUNE_BENCH_PATTERN_H_

#include <cstdint>
#include <type_traits>

#include "bench/drawn.h"
#include "bench/integer_pattern.h"
#include "bench/number.h"
#include "bench/steps.h"
#include "bench/types.h"

namespace nccl_tune::bench {

template <typename T>
class RealPattern {
 public:
  // As of IntegerPattern.
  constexpr RealPattern(ReduceOp op, std::uint64_t seed, std::uint64_t ranks, bool reduces = true)
      : op_(op), reduces_(reduces), seed_(seed), ranks_(ranks), steps_(ranks, Contributors(op), Parity(op)) {
    const double divisor = static_cast<double>(ranks);
    const double wide = 1.0 / divisor;
    part_ = ToDouble(FromDouble<T>(std::is_same_v<T, double> ? wide : static_cast<double>(static_cast<float>(wide))));
    exact_ = op != ReduceOp::kAvg || ((ranks & (ranks - 1)) == 0 && wide >= kLeast<T>);
  }

  constexpr T Value(std::uint64_t rank, std::uint64_t index) const {
    if (!reduces_) return Drawn<T>(seed_, rank, index);
    const std::uint64_t mix = Mix(seed_, index);
    const std::uint32_t step = steps_.Of(mix, rank);
    if (op_ == ReduceOp::kProd) return FromDouble<T>(Factor(step) * (rank == steps_.First(mix) ? Odd(mix) : 1.0));
    return FromDouble<T>(Signed(mix, step) * Scale(mix));
  }

  constexpr T Expected(std::uint64_t index) const {
    const std::uint64_t mix = Mix(seed_, index);
    return FromDouble<T>(op_ == ReduceOp::kAvg ? Total(mix) / static_cast<double>(ranks_) : Total(mix));
  }

  constexpr bool Accepts(std::uint64_t index, T got) const {
    return ToBits(got) == ToBits(Expected(index)) || (!exact_ && IsAverage(Mix(seed_, index), ToDouble(got)));
  }

  static constexpr T Divide(T sum, std::uint64_t ranks) {
    return FromDouble<T>(ToDouble(sum) / static_cast<double>(ranks));
  }

  static constexpr T Scale(T number, std::uint64_t scalar) {
    return FromDouble<T>(ToDouble(number) * static_cast<double>(scalar));
  }

 private:
  static constexpr int kBits = kSignificand<T>;
  static constexpr std::uint32_t kCycle = kBits >= 8 ? 7 : 2;

  static constexpr std::uint64_t Contributors(ReduceOp op) {
    constexpr std::uint64_t kExact = std::uint64_t{1} << static_cast<unsigned>(kBits);
    // A rank's part in an average stays well above the tolerance.
    constexpr std::uint64_t kAverage = (std::uint64_t{1} << static_cast<unsigned>(kBits / 2)) / 4;
    switch (op) {
      case ReduceOp::kSum:
        return kExact / kCycle;
      case ReduceOp::kMulsum:
        return kExact / (2 * kCycle);
      case ReduceOp::kAvg:
        return kAverage > 1 ? kAverage : 1;
      case ReduceOp::kProd:
        return 6;  // any part of the product is within 2^-3 and 2^5
      case ReduceOp::kMax:
      case ReduceOp::kMin:
        break;
    }
    return kCycle;
  }

  static constexpr double Factor(std::uint32_t step) { return step == 0 ? 1.0 : (step % 2 == 1 ? 2.0 : -0.5); }

  // 1 <= result < 2
  static constexpr double Odd(std::uint64_t mix) {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << static_cast<unsigned>(kBits - 1)) - 1;
    return 1.0 + static_cast<double>((mix >> 4U) & kMask) * PowerOfTwo(1 - kBits);
  }

  // Steps, or a sum of them, as they stand in the data before they are scaled. Never -0.
  constexpr double Signed(std::uint64_t mix, std::uint64_t steps) const {
    const auto size = static_cast<std::int64_t>(steps);
    const auto middle = static_cast<std::int64_t>((mix >> 4U) & 7U);
    if (op_ == ReduceOp::kMax) return static_cast<double>(size - middle);
    if (op_ == ReduceOp::kMin) return static_cast<double>(middle - size);
    const auto sign = 1 - static_cast<std::int64_t>(mix >> 2U & 2U);  // no branch: the processor could not foresee it
    return static_cast<double>(sign * size);
  }

  constexpr double Scale(std::uint64_t mix) const {
    return PowerOfTwo(static_cast<int>(mix & 7U) - (op_ == ReduceOp::kAvg ? 0 : 3));
  }

  // The exact result; of an average the sum.
  constexpr double Total(std::uint64_t mix) const {
    if (op_ == ReduceOp::kProd) {
      double product = Odd(mix);
      for (std::uint32_t i = 0; i < steps_.Count(mix); ++i) product *= Factor(steps_.Nth(mix, i));
      return product;
    }
    if (op_ == ReduceOp::kMax || op_ == ReduceOp::kMin) return Signed(mix, steps_.Greatest(mix)) * Scale(mix);
    const std::uint64_t times = op_ == ReduceOp::kMulsum ? PremulScalar(steps_.First(mix)) : 1;
    return Signed(mix, steps_.Sum(mix) * times) * Scale(mix);
  }

  constexpr bool IsAverage(std::uint64_t mix, double got) const {
    constexpr int kOwn = std::is_same_v<T, double> ? 1 : 0;  // our own rounding of the expectation
    const double total = Total(mix);
    const auto count = static_cast<double>(steps_.Count(mix));
    return IsNear(got, total * part_, count + kOwn, count) || IsNear(got, total / static_cast<double>(ranks_), 2, 1);
  }

  static constexpr bool IsNear(double got, double wanted, double roundings, double products) {
    const double relative = roundings * PowerOfTwo(-kBits);
    const double off = got < wanted ? wanted - got : got - wanted;
    return off <= relative / (1 - relative) * (wanted < 0 ? -wanted : wanted) + products * kLeast<T> / 2;
  }

  ReduceOp op_;
  bool reduces_;
  bool exact_ = true;
  std::uint64_t seed_;
  std::uint64_t ranks_;
  double part_ = 1;  // 1/ranks in the type, rounded as NCCL does
  Steps<kCycle> steps_;
};

template <typename T>
using Pattern = std::conditional_t<std::is_integral_v<T>, IntegerPattern<T>, RealPattern<T>>;

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PATTERN_H_
