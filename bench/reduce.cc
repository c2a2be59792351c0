// SPDX-License-Identifier: Apache-2.0
#include "bench/reduce.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  if (seat.rank != seat.root) return Untouched(shape, seat);
  std::vector<Stretch> stretches;
  AddReduced(0, shape.count, 0, &stretches);
  return stretches;
}

}  // namespace

const Collective kReduce = {.kind = CollectiveKind::kReduce,
                            .name = "reduce",
                            .reduces = true,
                            .lists_ops = true,
                            .has_root = true,
                            .checks_in_place = true,
                            .op_column = "",
                            .shape = WholeShape,
                            .bandwidth = WholeBandwidth,
                            .sends = SendsAll,
                            .expects = Expects};

}  // namespace nccl_tune::bench
