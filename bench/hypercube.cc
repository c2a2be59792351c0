// SPDX-License-Identifier: Apache-2.0
#include "bench/hypercube.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

// Sent by each rank over all steps: 1 + 2 + 4 + ... parts.
Bandwidth BandwidthOf(const Shape& shape, const Question& question) {
  return {.bytes = static_cast<double>(shape.count * (question.ranks - 1) * question.type_bytes), .bus_factor = 1};
}

}  // namespace

const Collective kHypercube = {.kind = CollectiveKind::kHypercube,
                               .name = "hypercube",
                               .reduces = false,
                               .lists_ops = false,
                               .has_root = false,
                               .checks_in_place = true,
                               .op_column = "",
                               .shape = CollectingShape,
                               .bandwidth = BandwidthOf,
                               .sends = SendsAll,
                               .expects = Collected};

}  // namespace nccl_tune::bench
