// SPDX-License-Identifier: Apache-2.0
#include "bench/scatter.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  std::vector<Stretch> stretches;
  AddCopied(0, shape.count, seat.rank * shape.count, seat.root, &stretches);
  return stretches;
}

}  // namespace

const Collective kScatter = {.kind = CollectiveKind::kScatter,
                             .name = "scatter",
                             .reduces = false,
                             .lists_ops = false,
                             .has_root = true,
                             .checks_in_place = true,
                             .op_column = "none",
                             .shape = DistributingShape,
                             .bandwidth = PartsBandwidth,
                             .sends = SendsAsRoot,
                             .expects = Expects};

}  // namespace nccl_tune::bench
