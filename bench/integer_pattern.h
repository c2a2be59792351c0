// SPDX-License-Identifier: Apache-2.0
//
// pattern.h for integers: all in the type's own wrap-around arithmetic. constexpr: the GPU's kernels use the same code.
#ifndef NCCL_TUNE_BENCH_INTEGER_PATTERN_H_
#define NCCL_TUNE_BENCH_INTEGER_PATTERN_H_

#include <cstdint>
#include <type_traits>

#include "bench/drawn.h"
#include "bench/steps.h"
#include "bench/types.h"

namespace nccl_tune::bench {

template <typename T>
class IntegerPattern {
 public:
  // `reduces`: else what is sent is only copied, and nothing but Value may be asked for.
  constexpr IntegerPattern(ReduceOp op, std::uint64_t seed, std::uint64_t ranks, bool reduces = true)
      : op_(op), reduces_(reduces), seed_(seed), ranks_(ranks), steps_(ranks, Contributors(op, ranks), Parity(op)) {
    const std::uint64_t times = op == ReduceOp::kMulsum ? ranks + ranks / 2 : ranks;
    twice_ = times % 2 == 0;
    weight_ = times + (twice_ ? 1 : 0);
    for (std::uint64_t i = 0; op == ReduceOp::kProd && i < 64; ++i) {
      power_ = power_ * power_ * (((ranks / kCycle) >> (63U - i)) % 2 == 1 ? kCycleProduct : 1);
    }
  }

  constexpr T Value(std::uint64_t rank, std::uint64_t index) const {
    if (!reduces_) return Drawn<T>(seed_, rank, index);
    const std::uint64_t mix = Mix(seed_, index);
    const std::uint64_t step = steps_.Of(mix, rank);
    if (op_ == ReduceOp::kProd) return Wrap(Factor(step) * (rank == 0 ? mix | 1U : 1));
    if (op_ == ReduceOp::kMax) return Wrap(Middle(mix) + step);
    if (op_ == ReduceOp::kMin) return Wrap(Middle(mix) - step);
    return Wrap((twice_ && rank == 0 ? 2 * mix : mix) + step);
  }

  constexpr T Expected(std::uint64_t index) const {
    const std::uint64_t mix = Mix(seed_, index);
    if (op_ == ReduceOp::kProd) return Wrap(Product(mix));
    if (op_ == ReduceOp::kMax) return Wrap(Middle(mix) + steps_.Greatest(mix));
    if (op_ == ReduceOp::kMin) return Wrap(Middle(mix) - steps_.Greatest(mix));
    const std::uint64_t times = op_ == ReduceOp::kMulsum ? PremulScalar(steps_.First(mix)) : 1;
    const T sum = Wrap(mix * weight_ + steps_.Sum(mix) * times);
    return op_ == ReduceOp::kAvg ? Divide(sum, ranks_) : sum;
  }

  constexpr bool Accepts(std::uint64_t index, T got) const { return got == Expected(index); }

  static constexpr T Divide(T sum, std::uint64_t ranks) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<std::int64_t>(sum) / static_cast<std::int64_t>(ranks));
    } else {
      return static_cast<T>(static_cast<std::uint64_t>(sum) / ranks);
    }
  }

  static constexpr T Scale(T number, std::uint64_t scalar) { return Wrap(static_cast<std::uint64_t>(number) * scalar); }

 private:
  static constexpr std::uint32_t kCycle = 7;
  static constexpr std::uint64_t kCycleProduct = 3 * 5 * 7 * 9 * 11 * 13 * 15;

  // Of the greatest step only one rank may be the holder, or its absence would not be seen.
  static constexpr std::uint64_t Contributors(ReduceOp op, std::uint64_t ranks) {
    return op == ReduceOp::kMax || op == ReduceOp::kMin ? kCycle : ranks;
  }

  static constexpr T Wrap(std::uint64_t value) { return static_cast<T>(value); }
  static constexpr std::uint64_t Factor(std::uint64_t step) { return 2 * step + 1; }

  // Leaves room for the step on both sides.
  static constexpr std::uint64_t Middle(std::uint64_t mix) {
    constexpr auto kBits = static_cast<unsigned>(8 * sizeof(T));
    return (mix >> (64U - kBits + 2U)) + kCycle + 1 - (std::is_signed_v<T> ? std::uint64_t{1} << (kBits - 3U) : 0);
  }

  constexpr std::uint64_t Product(std::uint64_t mix) const {
    std::uint64_t product = power_ * (mix | 1U);
    for (std::uint32_t i = 0; i < steps_.Count(mix) % kCycle; ++i) product *= Factor(steps_.Nth(mix, i));
    return product;
  }

  ReduceOp op_;
  bool reduces_;
  bool twice_ = false;  // rank 0 sends the common part twice, so that it counts an odd number of times
  std::uint64_t seed_;
  std::uint64_t ranks_;
  std::uint64_t weight_ = 0;  // how often the common part is in the sum
  std::uint64_t power_ = 1;   // product of the factors of all whole cycles
  Steps<kCycle> steps_;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_INTEGER_PATTERN_H_
