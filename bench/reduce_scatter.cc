// SPDX-License-Identifier: Apache-2.0
#include "bench/reduce_scatter.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  std::vector<Stretch> stretches;
  AddReduced(0, shape.count, seat.rank * shape.count, &stretches);
  return stretches;
}

}  // namespace

const Collective kReduceScatter = {.kind = CollectiveKind::kReduceScatter,
                                   .name = "reduce_scatter",
                                   .reduces = true,
                                   .lists_ops = true,
                                   .has_root = false,
                                   .checks_in_place = true,
                                   .op_column = "",
                                   .shape = DistributingShape,
                                   .bandwidth = PartsBandwidth,
                                   .sends = SendsAll,
                                   .expects = Expects};

}  // namespace nccl_tune::bench
