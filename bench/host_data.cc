// SPDX-License-Identifier: Apache-2.0
#include "bench/host_data.h"

#include <algorithm>
#include <cstring>
#include <locale>
#include <optional>
#include <sstream>
#include <type_traits>

#include "bench/number.h"
#include "bench/pattern.h"

namespace nccl_tune::bench {
namespace {

template <typename T>
Pattern<T> PatternOf(const DataKey& key) {
  return Pattern<T>(key.op, key.seed, key.ranks, key.reduces);
}

template <typename T>
std::string ElementText(T element) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(element);
  } else {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream.precision(std::is_same_v<T, double> ? 17 : 9);
    stream << ToDouble(element);
    return stream.str();
  }
}

struct Found {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
};

// `expected(i)` and `data[i]`, i < count, as bits; `begin` is where data[0] is in the result.
template <typename T, typename IsRight>
void Compare(std::uint64_t begin, std::uint64_t count, const T* data, Found& found, const IsRight& is_right) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_right(i, data[i])) continue;
    if (found.count++ == 0) found.first = begin + i;
  }
}

template <typename T>
void CheckStretch(const Pattern<T>& pattern, const Stretch& stretch, const T* data, Found& found) {
  switch (stretch.kind) {
    case Stretch::Kind::kZero:
      Compare(stretch.begin, stretch.count, data, found, [](std::uint64_t, T got) { return ToBits(got) == 0; });
      return;
    case Stretch::Kind::kReduced:
      Compare(stretch.begin, stretch.count, data, found,
              [&](std::uint64_t i, T got) { return pattern.Accepts(stretch.offset + i, got); });
      return;
    case Stretch::Kind::kCopied:
      break;
  }
  std::uint64_t rank = stretch.rank;
  for (std::uint64_t done = 0; done < stretch.count; done += stretch.each, rank += stretch.rank_step) {
    const std::uint64_t count = std::min(stretch.each, stretch.count - done);
    Compare(stretch.begin + done, count, data + done, found,
            [&](std::uint64_t i, T got) { return ToBits(got) == ToBits(pattern.Value(rank, stretch.offset + i)); });
  }
}

template <typename T>
std::optional<T> ExpectedAt(const Pattern<T>& pattern, std::span<const Stretch> stretches, std::uint64_t offset) {
  for (const Stretch& stretch : stretches) {
    if (offset < stretch.begin || offset - stretch.begin >= stretch.count) continue;
    const std::uint64_t at = offset - stretch.begin;
    if (stretch.kind == Stretch::Kind::kZero) return T{};
    if (stretch.kind == Stretch::Kind::kReduced) return pattern.Expected(stretch.offset + at);
    return pattern.Value(stretch.rank + at / stretch.each * stretch.rank_step, stretch.offset + at % stretch.each);
  }
  return std::nullopt;
}

}  // namespace

void FillData(const DataKey& key, std::uint64_t count, void* data) {
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern = PatternOf<T>(key);
    T* const elements = static_cast<T*>(data);
    for (std::uint64_t i = 0; i < count; ++i) elements[i] = pattern.Value(key.rank, i);
  });
}

Mismatches CheckData(const DataKey& key, std::span<const Stretch> stretches, const void* data) {
  Mismatches mismatches;
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern = PatternOf<T>(key);
    const T* const elements = static_cast<const T*>(data);
    Found found;
    for (const Stretch& stretch : stretches) CheckStretch<T>(pattern, stretch, elements + stretch.begin, found);
    mismatches.count = found.count;
    if (found.count == 0) return;
    mismatches.first.push_back(DescribeWrong(key, stretches, found.count, found.first, elements + found.first));
  });
  return mismatches;
}

std::string DescribeWrong(const DataKey& key, std::span<const Stretch> stretches, std::uint64_t wrong,
                          std::uint64_t offset, const void* element) {
  return WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const std::optional<T> expected = ExpectedAt<T>(PatternOf<T>(key), stretches, offset);
    return "rank " + std::to_string(key.rank) + ": " + std::to_string(wrong) + " wrong, first at offset " +
           std::to_string(offset) + ": got " + ElementText(*static_cast<const T*>(element)) +
           (expected ? ", expected " + ElementText(*expected) : std::string());
  });
}

void DivideData(DataType type, std::uint64_t ranks, std::uint64_t count, void* data) {
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    T* const elements = static_cast<T*>(data);
    for (std::uint64_t i = 0; i < count; ++i) elements[i] = Pattern<T>::Divide(elements[i], ranks);
  });
}

void ScaleData(DataType type, std::uint64_t rank, std::uint64_t count, void* data) {
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    T* const elements = static_cast<T*>(data);
    for (std::uint64_t i = 0; i < count; ++i) elements[i] = Pattern<T>::Scale(elements[i], PremulScalar(rank));
  });
}

std::array<unsigned char, 8> PremulBytes(DataType type, std::uint64_t rank) {
  std::array<unsigned char, 8> bytes{};
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    T scalar{};
    if constexpr (std::is_integral_v<T>) {
      scalar = static_cast<T>(PremulScalar(rank));
    } else {
      scalar = FromDouble<T>(static_cast<double>(PremulScalar(rank)));
    }
    std::memcpy(bytes.data(), &scalar, sizeof(T));
  });
  return bytes;
}

void CorruptData(DataType type, std::uint64_t offset, void* data) {
  const std::uint64_t bytes = BytesOf(type);
  auto* const element = static_cast<unsigned char*>(data) + offset * bytes;
  for (std::uint64_t i = 0; i < bytes; ++i) element[i] = static_cast<unsigned char>(~element[i]);
}

}  // namespace nccl_tune::bench
