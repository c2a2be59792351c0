// SPDX-License-Identifier: Apache-2.0
#include "bench/alltoall.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

Shape ShapeOf(const Question& question) {
  const std::uint64_t part = PartOf(question);
  return {.count = part, .send_count = part * question.ranks, .receive_count = part * question.ranks};
}

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  return OfEachRank(shape.count, seat.rank * shape.count, seat.ranks);
}

}  // namespace

const Collective kAlltoall = {.kind = CollectiveKind::kAlltoall,
                              .name = "alltoall",
                              .reduces = false,
                              .lists_ops = false,
                              .has_root = false,
                              .checks_in_place = false,
                              .op_column = "none",
                              .shape = ShapeOf,
                              .bandwidth = PartsBandwidth,
                              .sends = SendsAll,
                              .expects = Expects};

}  // namespace nccl_tune::bench
