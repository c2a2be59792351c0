// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "bench/sizes.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

constexpr double kMostSizes = 1e4;  // no more are listed here; a user may wait for more

// The sizes that a sweep will have, roughly.
double CountOf(const bench::Sweep& sweep) {
  if (sweep.factor > 1) return 64;
  return sweep.step_bytes == 0
             ? 1
             : static_cast<double>(sweep.max_bytes - sweep.min_bytes) / static_cast<double>(sweep.step_bytes);
}

// Four lines: first and last size, step and factor.
void TryOne(ByteReader bytes) {
  std::uint64_t numbers[4] = {};
  for (auto& number : numbers) {
    const auto size = bench::ParseSize(bytes.Line());
    if (!size.ok()) return RequireReadable(size.error());
    number = *size;
  }
  const bench::Sweep sweep{
      .min_bytes = numbers[0], .max_bytes = numbers[1], .step_bytes = numbers[2], .factor = numbers[3]};
  const auto check = bench::CheckSweep(sweep);
  if (!check.ok()) return RequireReadable(check.error());
  if (CountOf(sweep) > kMostSizes) return;
  const auto sizes = bench::SizesOf(sweep);
  Require(!sizes.empty() && sizes.front() == sweep.min_bytes && sizes.back() <= sweep.max_bytes,
          "sizes are the sweep's");
  Require(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end(), "sizes ascend");
  for (const bool with_check : {false, true}) {
    Require(bench::LargestSize(sweep.max_bytes, with_check) <= sweep.max_bytes / 2, "buffers fit the memory");
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
