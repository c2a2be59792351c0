// SPDX-License-Identifier: Apache-2.0
#include "bench/collective.h"

#include <algorithm>
#include <array>

#include "bench/all_gather.h"
#include "bench/all_reduce.h"
#include "bench/alltoall.h"
#include "bench/alltoallv.h"
#include "bench/broadcast.h"
#include "bench/gather.h"
#include "bench/hypercube.h"
#include "bench/reduce.h"
#include "bench/reduce_scatter.h"
#include "bench/scatter.h"
#include "bench/sendrecv.h"

namespace nccl_tune::bench {
namespace {

// In the order of nccl-tests' programs.
constexpr std::array<const Collective*, 11> kCollectives = {&kAllReduce, &kAllGather, &kBroadcast, &kReduceScatter,
                                                            &kReduce,    &kAlltoall,  &kAlltoallv, &kScatter,
                                                            &kGather,    &kSendrecv,  &kHypercube};

}  // namespace

const Collective* FindCollective(std::string_view name) {
  const auto* const found =
      std::find_if(kCollectives.begin(), kCollectives.end(), [&](const auto* one) { return one->name == name; });
  return found == kCollectives.end() ? nullptr : *found;
}

std::string CollectiveNames() {
  std::string names;
  for (const Collective* one : kCollectives) names += (names.empty() ? "" : ", ") + std::string(one->name);
  return names;
}

}  // namespace nccl_tune::bench
