// SPDX-License-Identifier: Apache-2.0
#include "bench/gather.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  return seat.rank == seat.root ? Collected(shape, seat) : Untouched(shape, seat);
}

}  // namespace

const Collective kGather = {.kind = CollectiveKind::kGather,
                            .name = "gather",
                            .reduces = false,
                            .lists_ops = false,
                            .has_root = true,
                            .checks_in_place = true,
                            .op_column = "none",
                            .shape = CollectingShape,
                            .bandwidth = PartsBandwidth,
                            .sends = SendsAll,
                            .expects = Expects};

}  // namespace nccl_tune::bench
