// SPDX-License-Identifier: Apache-2.0
#include "bench/collective.h"

#include <algorithm>
#include <array>

#include "bench/all_reduce.h"

namespace nccl_tune::bench {
namespace {

constexpr std::array<const Collective*, 1> kBuilt = {&kAllReduce};

constexpr std::array<std::string_view, 11> kKnown = {"all_reduce", "all_gather", "broadcast", "reduce_scatter",
                                                     "reduce",     "alltoall",   "alltoallv", "scatter",
                                                     "gather",     "sendrecv",   "hypercube"};

}  // namespace

const Collective* FindCollective(std::string_view name) {
  const auto found = std::find_if(kBuilt.begin(), kBuilt.end(), [&](const auto* one) { return one->name == name; });
  return found == kBuilt.end() ? nullptr : *found;
}

std::string CollectiveNames() {
  std::string names;
  for (const Collective* one : kBuilt) names += (names.empty() ? "" : ", ") + std::string(one->name);
  return names;
}

bool IsKnownCollective(std::string_view name) { return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end(); }

}  // namespace nccl_tune::bench
