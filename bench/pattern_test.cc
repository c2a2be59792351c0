// SPDX-License-Identifier: Apache-2.0
//
// The closed formulas against the plain reduction that they stand for.
#include "bench/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nccl_tune::bench {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::uint64_t kRanks[] = {1, 2, 3, 4, 7, 8, 63, 64, 1000, 16384};

// One step of a reduction, rounded to the type.
template <typename T>
T Combine(ReduceOp op, T a, T b) {
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

enum class Order { kForward, kBackward, kTree };
// Where an average is divided; the last in double.
enum class Division { kBefore, kAfter, kWide };

template <typename T>
T Fold(ReduceOp op, std::vector<T> values, Order order) {
  if (order == Order::kBackward) std::reverse(values.begin(), values.end());
  if (order == Order::kTree) {
    for (std::size_t step = 1; step < values.size(); step *= 2) {
      for (std::size_t i = 0; i + step < values.size(); i += 2 * step) {
        values[i] = Combine(op, values[i], values[i + step]);
      }
    }
    return values[0];
  }
  T total = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) total = Combine(op, total, values[i]);
  return total;
}

template <typename T>
T Part(std::uint64_t ranks) {
  const double part = 1.0 / static_cast<double>(ranks);
  return FromDouble<T>(sizeof(T) < 8 ? static_cast<float>(part) : part);
}

// `values` are as the ranks send them.
template <typename T>
T Reduce(ReduceOp op, std::vector<T> values, std::uint64_t ranks, Order order, Division division) {
  if (op != ReduceOp::kAvg) return Fold(op, std::move(values), order);
  if constexpr (std::is_integral_v<T>) {
    return Pattern<T>::Divide(Fold(op, std::move(values), order), ranks);
  } else {
    if (division == Division::kWide) return Pattern<T>::Divide(Fold(op, std::move(values), order), ranks);
    const T part = Part<T>(ranks);
    if (division == Division::kAfter) return Combine(ReduceOp::kProd, Fold(op, std::move(values), order), part);
    for (T& value : values) value = Combine(ReduceOp::kProd, value, part);
    return Fold(op, std::move(values), order);
  }
}

// What enters the sum: for mulsum after the multiplication.
template <typename T>
std::vector<T> Inputs(const Pattern<T>& pattern, ReduceOp op, std::uint64_t ranks, std::uint64_t index) {
  std::vector<T> values;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const T value = pattern.Value(rank, index);
    values.push_back(op == ReduceOp::kMulsum ? Pattern<T>::Scale(value, PremulScalar(rank)) : value);
  }
  return values;
}

// Calls `test(T{}, op, ranks)` for all of them.
template <typename Test>
void ForAll(Test test) {
  for (const TypeName& type : kTypes) {
    for (const OpName& op : kOps) {
      for (const std::uint64_t ranks : kRanks) {
        SCOPED_TRACE(std::string(type.name) + " " + std::string(op.name) + " " + std::to_string(ranks) + " ranks");
        WithType(type.type, [&](auto zero) { test(zero, op.op, ranks); });
      }
    }
  }
}

// Averages that are 0 whatever is sent: the sum is below the number of ranks, or 1/ranks is 0 in the type.
template <typename T>
bool IsBlind(ReduceOp op, std::uint64_t ranks) {
  if (op != ReduceOp::kAvg) return false;
  if constexpr (std::is_integral_v<T>) return ranks > static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return ToBits(Part<T>(ranks)) == 0;
}

TEST(PatternTest, AcceptsEveryOrder) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    const Pattern<T> pattern(op, kSeed, ranks);
    for (std::uint64_t index = 0; index < 2 + 200 / ranks; ++index) {
      const std::vector<T> inputs = Inputs<T>(pattern, op, ranks, index);
      for (const Order order : {Order::kForward, Order::kBackward, Order::kTree}) {
        for (const Division division : {Division::kBefore, Division::kAfter, Division::kWide}) {
          if (op != ReduceOp::kAvg && division != Division::kBefore) continue;
          const T got = Reduce<T>(op, inputs, ranks, order, division);
          ASSERT_TRUE(pattern.Accepts(index, got))
              << "index " << index << ", order " << static_cast<int>(order) << ", division "
              << static_cast<int>(division) << ": " << ToDouble(got) << ", not " << ToDouble(pattern.Expected(index));
        }
      }
    }
  });
}

// Elements, `most` at most, to which `rank` contributes so that its absence can be seen.
template <typename T>
std::vector<std::uint64_t> Contributions(const Pattern<T>& pattern, ReduceOp op, std::uint64_t rank) {
  constexpr std::size_t kMost = 12;
  std::vector<std::uint64_t> indexes;
  for (std::uint64_t index = 0; index < 400000 && indexes.size() < kMost; ++index) {
    const T value = pattern.Value(rank, index);
    bool contributes = true;
    if (op == ReduceOp::kMax || op == ReduceOp::kMin) contributes = ToBits(value) == ToBits(pattern.Expected(index));
    if constexpr (!std::is_integral_v<T>) {
      if (op == ReduceOp::kProd) contributes = ToDouble(value) != 1;
      if (contributes && op != ReduceOp::kMax && op != ReduceOp::kMin) contributes = ToDouble(value) != 0;
    }
    if (contributes) indexes.push_back(index);
  }
  return indexes;
}

// Whether one of `indexes` refuses the inputs after `spoil(inputs)`.
template <typename T, typename Spoil>
bool Refuses(const Pattern<T>& pattern, ReduceOp op, std::uint64_t ranks, const std::vector<std::uint64_t>& indexes,
             const Spoil& spoil) {
  return std::any_of(indexes.begin(), indexes.end(), [&](std::uint64_t index) {
    std::vector<T> inputs = Inputs<T>(pattern, op, ranks, index);
    spoil(inputs);
    return !pattern.Accepts(index, Reduce<T>(op, inputs, ranks, Order::kForward, Division::kBefore));
  });
}

TEST(PatternTest, RefusesOneRankMissingOrDoubled) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    if (ranks == 1 || IsBlind<T>(op, ranks)) return;
    const Pattern<T> pattern(op, kSeed, ranks);
    for (const std::uint64_t rank : {std::uint64_t{0}, ranks / 2, ranks - 1}) {
      const std::vector<std::uint64_t> indexes = Contributions<T>(pattern, op, rank);
      ASSERT_FALSE(indexes.empty()) << "rank " << rank;
      EXPECT_TRUE(Refuses<T>(pattern, op, ranks, indexes,
                             [&](auto& inputs) { inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(rank)); }))
          << "rank " << rank << " missing";
      if (op == ReduceOp::kMax || op == ReduceOp::kMin) continue;  // the same with it twice
      EXPECT_TRUE(Refuses<T>(pattern, op, ranks, indexes, [&](auto& inputs) { inputs.push_back(inputs[rank]); }))
          << "rank " << rank << " twice";
    }
  });
}

// How many of the first elements refuse `got(index)`.
template <typename T, typename Got>
std::uint64_t RefusedResults(const Pattern<T>& pattern, const Got& got) {
  std::uint64_t refused = 0;
  for (std::uint64_t index = 0; index < 100; ++index) refused += pattern.Accepts(index, got(index)) ? 0 : 1;
  return refused;
}

TEST(PatternTest, RefusesTheWrongPlaceAndTheWrongIteration) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    if (IsBlind<T>(op, ranks)) return;
    const Pattern<T> pattern(op, kSeed, ranks);
    const Pattern<T> stale(op, kSeed + 1, ranks);
    EXPECT_GT(RefusedResults<T>(pattern, [&](std::uint64_t i) { return pattern.Expected(i + 1); }), 50) << "shifted";
    EXPECT_GT(RefusedResults<T>(pattern, [&](std::uint64_t i) { return stale.Expected(i); }), 50) << "stale";
    EXPECT_GT(RefusedResults<T>(pattern, [&](std::uint64_t) { return T{}; }), 40) << "cleared";
    if (ranks == 1) return;
    EXPECT_GT(RefusedResults<T>(pattern, [&](std::uint64_t i) { return pattern.Value(0, i); }), 20) << "not reduced";
  });
}

TEST(PatternTest, RefusesAnotherOperation) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    if (ranks == 1 || IsBlind<T>(op, ranks)) return;
    const Pattern<T> pattern(op, kSeed, ranks);
    for (const OpName& other : kOps) {
      if (other.op == op) continue;
      bool refused = false;
      for (std::uint64_t index = 0; index < (ranks > 1000 ? 12 : 20) && !refused; ++index) {
        std::vector<T> inputs;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
          const T value = pattern.Value(rank, index);
          inputs.push_back(other.op == ReduceOp::kMulsum ? Pattern<T>::Scale(value, PremulScalar(rank)) : value);
        }
        const T got = Reduce<T>(other.op, inputs, ranks, Order::kTree, Division::kBefore);
        refused = !pattern.Accepts(index, got);
      }
      EXPECT_TRUE(refused) << NameOf(other.op) << " instead";
    }
  });
}

TEST(PatternTest, RefusesOneUnitInTheLastPlace) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    const bool power = (ranks & (ranks - 1)) == 0;
    if (op == ReduceOp::kAvg && !std::is_integral_v<T> && (!power || IsBlind<T>(op, ranks))) return;
    const Pattern<T> pattern(op, kSeed, ranks);
    for (std::uint64_t index = 0; index < 100; ++index) {
      const auto bits = ToBits(pattern.Expected(index));
      ASSERT_FALSE(pattern.Accepts(index, FromBits<T>(static_cast<BitsOfType<T>>(bits + 1)))) << index;
      ASSERT_FALSE(pattern.Accepts(index, FromBits<T>(static_cast<BitsOfType<T>>(bits - 1)))) << index;
    }
  });
}

TEST(PatternTest, RefusesNotANumberInfinityAndTheOtherZero) {
  ForAll([](auto zero, ReduceOp op, std::uint64_t ranks) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      using Bits = BitsOfType<T>;
      constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
      constexpr auto kInfinity = static_cast<Bits>(kSign - (Bits{1} << (kSignificand<T> - 1)));
      const Pattern<T> pattern(op, kSeed, ranks);
      for (std::uint64_t index = 0; index < 100; ++index) {
        for (const Bits bits : {static_cast<Bits>(kSign - 1), static_cast<Bits>(kInfinity + 1), kInfinity}) {
          if (std::isfinite(ToDouble(FromBits<T>(bits)))) continue;  // e4m3 has one no-number and no infinity
          ASSERT_FALSE(pattern.Accepts(index, FromBits<T>(bits))) << index << " " << std::uint64_t{bits};
          ASSERT_FALSE(pattern.Accepts(index, FromBits<T>(static_cast<Bits>(bits | kSign)))) << index;
        }
        if (!IsBlind<T>(op, ranks) && (op != ReduceOp::kAvg || ranks < 64)) {
          ASSERT_FALSE(pattern.Accepts(index, FromBits<T>(kSign))) << index;
        }
      }
    }
  });
}

// `near` is accepted and `far` refused at all elements, both as a part of the expectation.
template <typename T>
void ExpectTolerance(std::uint64_t ranks, double near, double far) {
  SCOPED_TRACE(std::to_string(sizeof(T)) + " bytes, " + std::to_string(ranks) + " ranks");
  const Pattern<T> pattern(ReduceOp::kAvg, kSeed, ranks);
  for (std::uint64_t index = 0; index < 100; ++index) {
    const double expected = ToDouble(pattern.Expected(index));
    EXPECT_TRUE(pattern.Accepts(index, FromDouble<T>(expected * near)));
    EXPECT_FALSE(pattern.Accepts(index, FromDouble<T>(expected * far))) << expected;
    EXPECT_FALSE(pattern.Accepts(index, FromDouble<T>(expected * (2 - far)))) << expected;
    EXPECT_FALSE(pattern.Accepts(index, FromDouble<T>(-expected))) << expected;
  }
}

TEST(PatternTest, AveragesByNoPowerOfTwoHaveATightTolerance) {
  ExpectTolerance<double>(3, 1 + 1e-16, 1 + 1e-14);
  ExpectTolerance<double>(1000, 1 + 1e-15, 1 + 1e-12);
  ExpectTolerance<float>(3, 1 + 1e-7, 1 + 1e-6);
  ExpectTolerance<float>(1000, 1 + 1e-6, 1 + 1e-4);
  ExpectTolerance<Half>(7, 1.0005, 1.01);
  ExpectTolerance<Half>(1000, 1.0005, 1.01);
  ExpectTolerance<Bfloat16>(7, 1.004, 1.05);
  ExpectTolerance<Bfloat16>(16381, 1.004, 1.05);
  ExpectTolerance<F8e4m3>(7, 1, 1.5);
  ExpectTolerance<F8e5m2>(7, 1, 1.9);
}

TEST(PatternTest, AveragesOfIntegersAreCutTowardsZero) {
  EXPECT_EQ(Pattern<std::int8_t>::Divide(-7, 2), -3);
  EXPECT_EQ(Pattern<std::int32_t>::Divide(7, 2), 3);
  EXPECT_EQ(Pattern<std::uint8_t>::Divide(255, 2), 127);
}

TEST(PatternTest, CopiesAreFiniteAndDifferByRankSeedAndPlace) {
  for (const TypeName& type : kTypes) {
    WithType(type.type, [&](auto zero) {
      using T = decltype(zero);
      const Pattern<T> pattern(ReduceOp::kSum, kSeed, 16384, false);
      const Pattern<T> stale(ReduceOp::kSum, kSeed + 1, 16384, false);
      std::uint64_t same = 0;
      for (std::uint64_t index = 0; index < 1000; ++index) {
        const T value = pattern.Value(7, index);
        EXPECT_TRUE(std::isfinite(ToDouble(value)));
        same += ToBits(value) == ToBits(pattern.Value(8, index)) ? 1 : 0;
        same += ToBits(value) == ToBits(pattern.Value(7, index + 1)) ? 1 : 0;
        same += ToBits(value) == ToBits(stale.Value(7, index)) ? 1 : 0;
      }
      EXPECT_LT(same, type.bytes == 1 ? 60 : 3) << type.name;
    });
  }
}

}  // namespace
}  // namespace nccl_tune::bench
