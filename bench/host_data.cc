// SPDX-License-Identifier: Apache-2.0
#include "bench/host_data.h"

#include <locale>
#include <sstream>
#include <type_traits>

#include "bench/number.h"
#include "bench/pattern.h"

namespace nccl_tune::bench {
namespace {

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

}  // namespace

void FillData(const DataKey& key, std::uint64_t count, void* data) {
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks);
    T* const elements = static_cast<T*>(data);
    for (std::uint64_t i = 0; i < count; ++i) elements[i] = pattern.Value(key.rank, i);
  });
}

Mismatches CheckData(const DataKey& key, std::uint64_t count, const void* data) {
  Mismatches mismatches;
  WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks);
    const T* const elements = static_cast<const T*>(data);
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (pattern.Accepts(i, elements[i])) continue;
      if (mismatches.count++ == 0) first = i;
    }
    if (mismatches.count == 0) return;
    mismatches.first.push_back(DescribeWrong(key, mismatches.count, first, elements + first));
  });
  return mismatches;
}

std::string DescribeWrong(const DataKey& key, std::uint64_t wrong, std::uint64_t offset, const void* element) {
  return WithType(key.type, [&](auto zero) {
    using T = decltype(zero);
    const Pattern<T> pattern(key.op, key.seed, key.ranks);
    return "rank " + std::to_string(key.rank) + ": " + std::to_string(wrong) + " wrong, first at offset " +
           std::to_string(offset) + ": got " + ElementText(*static_cast<const T*>(element)) + ", expected " +
           ElementText(pattern.Expected(offset));
  });
}

void DivideData(DataType type, std::uint64_t ranks, std::uint64_t count, void* data) {
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    T* const elements = static_cast<T*>(data);
    for (std::uint64_t i = 0; i < count; ++i) elements[i] = Pattern<T>::Divide(elements[i], ranks);
  });
}

void CorruptData(DataType type, std::uint64_t offset, void* data) {
  const std::uint64_t bytes = BytesOf(type);
  auto* const element = static_cast<unsigned char*>(data) + offset * bytes;
  for (std::uint64_t i = 0; i < bytes; ++i) element[i] = static_cast<unsigned char>(~element[i]);
}

}  // namespace nccl_tune::bench
