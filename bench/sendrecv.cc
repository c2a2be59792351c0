// SPDX-License-Identifier: Apache-2.0
#include "bench/sendrecv.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  std::vector<Stretch> stretches;
  AddCopied(0, shape.count, 0, (seat.rank + seat.ranks - 1) % seat.ranks, &stretches);
  return stretches;
}

}  // namespace

const Collective kSendrecv = {.kind = CollectiveKind::kSendrecv,
                              .name = "sendrecv",
                              .reduces = false,
                              .lists_ops = true,
                              .has_root = false,
                              .checks_in_place = false,
                              .op_column = "",
                              .shape = WholeShape,
                              .bandwidth = WholeBandwidth,
                              .sends = SendsAll,
                              .expects = Expects};

}  // namespace nccl_tune::bench
