// SPDX-License-Identifier: Apache-2.0
#include "bench/host_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "bench/number.h"
#include "bench/pattern.h"

namespace nccl_tune::bench {
namespace {

using Kind = Stretch::Kind;

constexpr std::uint64_t kRanks = 4;
constexpr std::uint64_t kCount = 24;
constexpr std::uint64_t kSeed = 3;

// Elements of a type, aligned for all.
struct Buffer {
  explicit Buffer(std::uint64_t count) : words(count) {}
  unsigned char* At(DataType type, std::uint64_t element) {
    return reinterpret_cast<unsigned char*>(words.data()) + element * BytesOf(type);
  }
  void* data() { return words.data(); }
  std::vector<std::uint64_t> words;
};

DataKey KeyOf(DataType type, ReduceOp op, std::uint64_t rank, bool reduces) {
  return {type, op, kSeed, kRanks, rank, reduces};
}

Buffer Sent(DataType type, ReduceOp op, std::uint64_t rank, bool reduces) {
  Buffer buffer(kCount);
  FillData(KeyOf(type, op, rank, reduces), kCount, buffer.data());
  return buffer;
}

void Copy(DataType type, Buffer& from, std::uint64_t first, std::uint64_t count, Buffer& to, std::uint64_t at) {
  std::memcpy(to.At(type, at), from.At(type, first), count * BytesOf(type));
}

TEST(HostDataTest, FillsWithThePattern) {
  for (const TypeName& type : kTypes) {
    for (const bool reduces : {true, false}) {
      Buffer sent = Sent(type.type, ReduceOp::kSum, 2, reduces);
      WithType(type.type, [&](auto zero) {
        using T = decltype(zero);
        const Pattern<T> pattern(ReduceOp::kSum, kSeed, kRanks, reduces);
        const T* const elements = static_cast<const T*>(sent.data());
        for (std::uint64_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(ToBits(elements[i]), ToBits(pattern.Value(2, i))) << type.name << " " << i;
        }
      });
    }
  }
}

// 8 elements that nobody writes, 12 of what rank 1 sends from element 4 on, and 2 each of rank 3, 2, 1 and 0.
constexpr Stretch kCopies[] = {
    {Kind::kZero, 0, 8, 0, 0, 0, 1},
    {Kind::kCopied, 8, 12, 4, 1, 0, 12},
    {Kind::kCopied, 20, 8, 6, 3, ~std::uint64_t{0}, 2},
};
constexpr std::uint64_t kCopiesCount = 28;

Buffer RightCopies(DataType type) {
  Buffer result(kCopiesCount);
  Buffer one = Sent(type, ReduceOp::kSum, 1, false);
  Copy(type, one, 4, 12, result, 8);
  for (std::uint64_t piece = 0; piece < 4; ++piece) {
    Buffer sent = Sent(type, ReduceOp::kSum, 3 - piece, false);
    Copy(type, sent, 6, 2, result, 20 + 2 * piece);
  }
  return result;
}

TEST(HostDataTest, AcceptsCopiesAndWhatNobodyWrites) {
  for (const TypeName& type : kTypes) {
    Buffer result = RightCopies(type.type);
    const Mismatches found = CheckData(KeyOf(type.type, ReduceOp::kSum, 0, false), kCopies, result.data());
    EXPECT_EQ(found.count, 0) << type.name << ": " << (found.first.empty() ? "" : found.first[0]);
    EXPECT_TRUE(found.first.empty());
  }
}

TEST(HostDataTest, RefusesEachSpoiltElementOfCopies) {
  for (const TypeName& type : kTypes) {
    for (std::uint64_t offset = 0; offset < kCopiesCount; ++offset) {
      Buffer result = RightCopies(type.type);
      result.At(type.type, offset)[BytesOf(type.type) - 1] ^= 0x80U;  // only the sign: -0 is not 0
      const Mismatches found = CheckData(KeyOf(type.type, ReduceOp::kSum, 2, false), kCopies, result.data());
      EXPECT_EQ(found.count, 1) << type.name << " " << offset;
      ASSERT_EQ(found.first.size(), 1U);
      const std::string begin = "rank 2: 1 wrong, first at offset " + std::to_string(offset) + ": got ";
      EXPECT_EQ(found.first[0].substr(0, begin.size()), begin);
    }
  }
}

TEST(HostDataTest, RefusesCopiesFromTheWrongPlace) {
  struct Case {
    const char* what;
    Stretch stretch;
    std::uint64_t count;  // elements at 8 on that must be wrong, of 12; 1-byte types have one more that is right
  };
  const Case cases[] = {
      {"another rank", {Kind::kCopied, 8, 12, 4, 2, 0, 12}, 12},
      {"shifted", {Kind::kCopied, 8, 12, 5, 1, 0, 12}, 12},
      {"another order of pieces", {Kind::kCopied, 8, 12, 4, 1, 1, 6}, 6},
      {"repeated", {Kind::kCopied, 8, 12, 4, 1, 0, 6}, 6},
      {"cleared", {Kind::kZero, 8, 12, 0, 0, 0, 1}, 12},
  };
  for (const TypeName& type : kTypes) {
    for (const Case& one : cases) {
      Buffer result = RightCopies(type.type);
      const Stretch stretches[] = {one.stretch};
      const Mismatches found = CheckData(KeyOf(type.type, ReduceOp::kSum, 0, false), stretches, result.data());
      EXPECT_LE(found.count, one.count) << type.name << " " << one.what;
      EXPECT_GE(found.count, type.bytes == 1 ? one.count - 1 : one.count) << type.name << " " << one.what;
    }
  }
}

// The reduction of elements 5 on of what all ranks send, on the host as a backend does it.
template <typename T>
Buffer RightSum(DataType type, ReduceOp op) {
  Buffer result(kCount);
  T* const totals = static_cast<T*>(result.data());
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    Buffer sent = Sent(type, op, rank, true);
    if (op == ReduceOp::kMulsum) ScaleData(type, rank, kCount, sent.data());
    const T* const elements = static_cast<const T*>(sent.data());
    for (std::uint64_t i = 0; i + 5 < kCount; ++i) {
      if constexpr (std::is_integral_v<T>) {
        totals[i] = static_cast<T>(static_cast<std::uint64_t>(totals[i]) + static_cast<std::uint64_t>(elements[i + 5]));
      } else {
        totals[i] = FromDouble<T>(ToDouble(totals[i]) + ToDouble(elements[i + 5]));
      }
    }
  }
  if (op == ReduceOp::kAvg) DivideData(type, kRanks, kCount, result.data());
  return result;
}

constexpr Stretch kReduction[] = {{Kind::kReduced, 0, kCount - 5, 5, 0, 0, 1}};

TEST(HostDataTest, AcceptsReductionsAndRefusesEachSpoiltElement) {
  for (const TypeName& type : kTypes) {
    WithType(type.type, [&](auto zero) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMulsum}) {
        Buffer result = RightSum<decltype(zero)>(type.type, op);
        const DataKey key = KeyOf(type.type, op, 1, true);
        const Mismatches none = CheckData(key, kReduction, result.data());
        EXPECT_EQ(none.count, 0) << type.name << " " << NameOf(op) << ": " << (none.count == 0 ? "" : none.first[0]);
        for (std::uint64_t offset = 0; offset < kReduction[0].count; ++offset) {
          CorruptData(type.type, offset, result.data());
          const Mismatches found = CheckData(key, kReduction, result.data());
          EXPECT_EQ(found.count, offset + 1);
          ASSERT_EQ(found.first.size(), 1U);
          const std::string begin = "rank 1: " + std::to_string(offset + 1) + " wrong, first at offset 0: got ";
          EXPECT_EQ(found.first[0].substr(0, begin.size()), begin);
        }
      }
    });
  }
}

TEST(HostDataTest, ResultsOfOneRankOnly) {
  // In place, a rank that is not the root keeps what it sent.
  for (const TypeName& type : kTypes) {
    Buffer sent = Sent(type.type, ReduceOp::kSum, 3, true);
    const Stretch kept[] = {{Kind::kCopied, 0, kCount, 0, 3, 0, kCount}};
    EXPECT_EQ(CheckData(KeyOf(type.type, ReduceOp::kSum, 3, true), kept, sent.data()).count, 0) << type.name;
  }
}

TEST(HostDataTest, DescribesWhatIsWrong) {
  const DataKey key{DataType::kInt32, ReduceOp::kSum, kSeed, 1, 0, true};
  std::int32_t sent = 0;
  FillData(key, 1, &sent);
  const std::int32_t got = 7;
  const std::uint8_t none = 0x7f;
  const Stretch reduced[] = {{Kind::kReduced, 2, 1, 0, 0, 0, 1}};
  const Stretch zero[] = {{Kind::kZero, 0, 9, 0, 0, 0, 1}};
  struct Case {
    DataKey key;
    std::span<const Stretch> stretches;
    std::uint64_t offset;
    const void* element;
    std::string text;
  };
  DataKey tiny = key;
  tiny.type = DataType::kF8e4m3;
  tiny.rank = 5;
  for (const Case& one : {
           Case{key, reduced, 2, &got, "rank 0: 3 wrong, first at offset 2: got 7, expected " + std::to_string(sent)},
           Case{key, zero, 8, &got, "rank 0: 3 wrong, first at offset 8: got 7, expected 0"},
           Case{key, zero, 9, &got, "rank 0: 3 wrong, first at offset 9: got 7"},
           Case{key, reduced, 0, &got, "rank 0: 3 wrong, first at offset 0: got 7"},
           Case{key, {}, 0, &got, "rank 0: 3 wrong, first at offset 0: got 7"},
           Case{tiny, zero, 0, &none, "rank 5: 3 wrong, first at offset 0: got nan, expected 0"},
       }) {
    EXPECT_EQ(DescribeWrong(one.key, one.stretches, 3, one.offset, one.element), one.text);
  }
}

TEST(HostDataTest, NothingToCheckIsRight) {
  EXPECT_EQ(CheckData(DataKey{}, {}, nullptr).count, 0);
  const Stretch empty[] = {{Kind::kReduced, 0, 0, 0, 0, 0, 1}, {Kind::kCopied, 0, 0, 0, 0, 0, 1}};
  const float nothing = 0;
  EXPECT_EQ(CheckData(DataKey{}, empty, &nothing).count, 0);
}

TEST(HostDataTest, ScalarOfMulsumInEachType) {
  for (const TypeName& type : kTypes) {
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
      const auto bytes = PremulBytes(type.type, rank);
      WithType(type.type, [&](auto scalar) {
        std::memcpy(&scalar, bytes.data(), sizeof(scalar));
        EXPECT_EQ(ToDouble(scalar), rank == 1 ? 2.0 : 1.0) << type.name;
      });
    }
  }
}

}  // namespace
}  // namespace nccl_tune::bench
