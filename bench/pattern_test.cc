// SPDX-License-Identifier: Apache-2.0
//
// The closed formulas against the plain reduction that they stand for.
#include "bench/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kIndexes = 200;

template <typename T>
T Reduce(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (op == ReduceOp::kProd) return static_cast<T>(x * y);
    if (op == ReduceOp::kMax) return std::max(a, b);
    if (op == ReduceOp::kMin) return std::min(a, b);
    return static_cast<T>(x + y);
  } else {
    const double x = ToDouble(a);
    const double y = ToDouble(b);
    if (op == ReduceOp::kProd) return FromDouble<T>(x * y);
    if (op == ReduceOp::kMax) return x > y ? a : b;
    if (op == ReduceOp::kMin) return x < y ? a : b;
    return FromDouble<T>(x + y);
  }
}

template <typename T>
T Plain(const Pattern<T>& pattern, ReduceOp op, std::uint64_t ranks, std::uint64_t index) {
  T total = pattern.Value(0, index);
  for (std::uint64_t rank = 1; rank < ranks; ++rank) total = Reduce(op, total, pattern.Value(rank, index));
  return op == ReduceOp::kAvg ? Pattern<T>::Divide(total, ranks) : total;
}

TEST(PatternTest, ClosedFormulaAcceptsThePlainReduction) {
  for (const TypeName& type : kTypes) {
    WithType(type.type, [&](auto zero) {
      using T = decltype(zero);
      for (const OpName& op : kOps) {
        for (const std::uint64_t ranks : {1U, 2U, 3U, 6U, 7U, 8U, 13U, 64U, 100U, 700U}) {
          const Pattern<T> pattern(op.op, 5, ranks);
          for (std::uint64_t index = 0; index < kIndexes; ++index) {
            ASSERT_TRUE(pattern.Accepts(index, Plain<T>(pattern, op.op, ranks, index)))
                << type.name << " " << op.name << " " << ranks << " ranks, index " << index;
          }
        }
      }
    });
  }
}

// How many of the indexes accept `got(index)`.
template <typename T, typename Got>
std::uint64_t Accepted(const Pattern<T>& pattern, Got got) {
  std::uint64_t count = 0;
  for (std::uint64_t index = 0; index < kIndexes; ++index) count += pattern.Accepts(index, got(index)) ? 1 : 0;
  return count;
}

TEST(PatternTest, RefusesWrongResults) {
  constexpr std::uint64_t kRanks = 6;
  for (const TypeName& type : kTypes) {
    WithType(type.type, [&](auto zero) {
      using T = decltype(zero);
      for (const OpName& op : kOps) {
        const Pattern<T> pattern(op.op, 5, kRanks);
        const Pattern<T> other_seed(op.op, 6, kRanks);
        // Sums see each of these at every element (8-bit types and averages at most), the others at some.
        const bool sums = op.op == ReduceOp::kSum && type.bytes > 1 && std::is_integral_v<T>;
        const std::uint64_t most = sums ? 2 : kIndexes * 9 / 10;
        const auto missing = [&](std::uint64_t i) { return Plain<T>(pattern, op.op, kRanks - 1, i); };
        const auto shifted = [&](std::uint64_t i) { return Plain<T>(pattern, op.op, kRanks, i + 1); };
        const auto stale = [&](std::uint64_t i) { return Plain<T>(other_seed, op.op, kRanks, i); };
        EXPECT_LE(Accepted<T>(pattern, missing), most) << type.name << " " << op.name;
        EXPECT_LE(Accepted<T>(pattern, shifted), most) << type.name << " " << op.name;
        EXPECT_LE(Accepted<T>(pattern, stale), most) << type.name << " " << op.name;
      }
    });
  }
}

TEST(PatternTest, RefusesNotANumberAndInfinity) {
  const Pattern<float> pattern(ReduceOp::kSum, 1, 3);
  EXPECT_FALSE(pattern.Accepts(0, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(pattern.Accepts(0, std::numeric_limits<float>::infinity()));
}

TEST(PatternTest, ToleranceIsNoneWhileSumsFitAndTightBeyond) {
  const Pattern<float> few(ReduceOp::kSum, 1, 3);
  EXPECT_FALSE(few.Accepts(4, std::nextafter(few.Expected(4), 100.0F)));
  // 700 ranks of 1 to 7 give about 2,800: more than half's 2,048.
  const Pattern<Half> many(ReduceOp::kSum, 1, 700);
  const double expected = ToDouble(many.Expected(4));
  EXPECT_TRUE(many.Accepts(4, FromDouble<Half>(expected * 1.2)));
  EXPECT_FALSE(many.Accepts(4, FromDouble<Half>(expected * 1.4)));
}

TEST(PatternTest, AveragesOfIntegersAreCutTowardsZero) {
  EXPECT_EQ(Pattern<std::int8_t>::Divide(-7, 2), -3);
  EXPECT_EQ(Pattern<std::int32_t>::Divide(7, 2), 3);
  EXPECT_EQ(Pattern<std::uint8_t>::Divide(255, 2), 127);
}

}  // namespace
}  // namespace nccl_tune::bench
