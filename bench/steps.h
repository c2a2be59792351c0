// SPDX-License-Identifier: Apache-2.0
//
// Which ranks contribute how much to an element of the pattern (pattern.h), by closed formulas. constexpr: the GPU's
// kernels use the same code.
#ifndef NCCL_TUNE_BENCH_STEPS_H_
#define NCCL_TUNE_BENCH_STEPS_H_

#include <cstdint>

#include "bench/types.h"

namespace nccl_tune::bench {

// What mulsum multiplies the input of `rank` by.
constexpr std::uint64_t PremulScalar(std::uint64_t rank) { return rank % 2 == 0 ? 1 : 2; }

// Whether all contributors of an element shall be odd, or all even.
enum class SameParity { kNo, kYes };

constexpr SameParity Parity(ReduceOp op) { return op == ReduceOp::kMulsum ? SameParity::kYes : SameParity::kNo; }

// The contributors of an element are every n-th rank from a drawn one on. What they contribute runs through 1 to kCycle
// again and again, from a drawn step on. `mix` is the element's Mix (drawn.h). Fewer than 2^31 ranks.
template <std::uint32_t kCycle>
class Steps {
 public:
  // `most`: contributors of an element, 1 or more.
  constexpr Steps(std::uint64_t ranks, std::uint64_t most, SameParity parity) {
    every_ = static_cast<std::uint32_t>((ranks + most - 1) / most);
    if (parity == SameParity::kYes && ranks > 1) every_ += every_ % 2;
    each_ = static_cast<std::uint32_t>(ranks) / every_;
    more_ = static_cast<std::uint32_t>(ranks) % every_;
  }

  constexpr std::uint32_t First(std::uint64_t mix) const {
    return Share(static_cast<std::uint32_t>(mix >> 32U), every_);
  }
  constexpr std::uint32_t Count(std::uint64_t mix) const { return each_ + (First(mix) < more_ ? 1 : 0); }

  // What the n-th contributor, counted from 0, contributes: 1 to kCycle.
  constexpr std::uint32_t Nth(std::uint64_t mix, std::uint32_t n) const { return (Phase(mix) + n) % kCycle + 1; }

  // 0: the rank does not contribute.
  constexpr std::uint32_t Of(std::uint64_t mix, std::uint64_t rank) const {
    const auto narrow = static_cast<std::uint32_t>(rank);
    return narrow % every_ == First(mix) ? Nth(mix, narrow / every_) : 0;
  }

  constexpr std::uint64_t Sum(std::uint64_t mix) const {
    const std::uint32_t count = Count(mix);
    const std::uint32_t rest = count % kCycle;
    const std::uint32_t begin = Phase(mix) + 1;
    const std::uint32_t end = begin + rest;  // steps from kCycle + 1 on begin again with 1
    const std::uint32_t over = end > kCycle + 1 ? end - kCycle - 1 : 0;
    const std::uint64_t whole = std::uint64_t{count / kCycle} * (kCycle * (kCycle + 1) / 2);
    return whole + rest * begin + rest * (rest - 1) / 2 - over * kCycle;
  }

  constexpr std::uint32_t Greatest(std::uint64_t mix) const {
    const std::uint32_t last = Phase(mix) + Count(mix);
    return last < kCycle ? last : kCycle;
  }

 private:
  // `drawn` / 2^32 of `parts`.
  static constexpr std::uint32_t Share(std::uint32_t drawn, std::uint32_t parts) {
    return static_cast<std::uint32_t>(std::uint64_t{drawn} * parts >> 32U);
  }
  static constexpr std::uint32_t Phase(std::uint64_t mix) { return Share(static_cast<std::uint32_t>(mix), kCycle); }

  std::uint32_t every_ = 1;
  std::uint32_t each_ = 0;  // contributors of every element
  std::uint32_t more_ = 0;  // the elements whose first is below it have one more
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_STEPS_H_
