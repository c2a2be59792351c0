// SPDX-License-Identifier: Apache-2.0
#include "bench/broadcast.h"

#include "bench/parts.h"

namespace nccl_tune::bench {
namespace {

std::vector<Stretch> Expects(const Shape& shape, const Seat& seat) {
  std::vector<Stretch> stretches;
  AddCopied(0, shape.count, 0, seat.root, &stretches);
  return stretches;
}

}  // namespace

const Collective kBroadcast = {.kind = CollectiveKind::kBroadcast,
                               .name = "broadcast",
                               .reduces = false,
                               .lists_ops = false,
                               .has_root = true,
                               .checks_in_place = true,
                               .op_column = "none",
                               .shape = WholeShape,
                               .bandwidth = WholeBandwidth,
                               .sends = SendsAsRoot,
                               .expects = Expects};

}  // namespace nccl_tune::bench
