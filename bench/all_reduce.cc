// SPDX-License-Identifier: Apache-2.0
#include "bench/all_reduce.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

// A ring sends and receives each byte 2(n-1)/n times.
Bandwidth BandwidthOf(const Shape& shape, const Question& question) {
  return {.bytes = WholeBandwidth(shape, question).bytes, .bus_factor = 2 * OthersShare(question.ranks)};
}

std::vector<Stretch> Expects(const Shape& shape, const Seat&) {
  std::vector<Stretch> stretches;
  AddReduced(0, shape.count, 0, &stretches);
  return stretches;
}

}  // namespace

const Collective kAllReduce = {.kind = CollectiveKind::kAllReduce,
                               .name = "all_reduce",
                               .reduces = true,
                               .lists_ops = true,
                               .has_root = false,
                               .checks_in_place = true,
                               .op_column = "",
                               .shape = WholeShape,
                               .bandwidth = BandwidthOf,
                               .sends = SendsAll,
                               .expects = Expects};

}  // namespace nccl_tune::bench
