// SPDX-License-Identifier: Apache-2.0
#include "bench/all_reduce.h"

namespace nccl_tune::bench {
namespace {

Extent ExtentOf(std::uint64_t requested_bytes, std::uint64_t type_bytes, std::uint64_t) {
  const std::uint64_t count = requested_bytes / type_bytes;
  return {.count = count, .send_bytes = count * type_bytes, .receive_bytes = count * type_bytes};
}

// A ring sends and receives each byte 2(n-1)/n times.
double BusFactor(std::uint64_t ranks) {
  const auto n = static_cast<double>(ranks);
  return 2 * (n - 1) / n;
}

}  // namespace

const Collective kAllReduce = {
    .kind = CollectiveKind::kAllReduce, .name = "all_reduce", .extent = ExtentOf, .bus_factor = BusFactor};

}  // namespace nccl_tune::bench
