// SPDX-License-Identifier: Apache-2.0
#include "bench/all_gather.h"

#include "bench/parts.h"

namespace nccl_tune::bench {

const Collective kAllGather = {.kind = CollectiveKind::kAllGather,
                               .name = "all_gather",
                               .reduces = false,
                               .lists_ops = false,
                               .has_root = false,
                               .checks_in_place = true,
                               .op_column = "none",
                               .shape = CollectingShape,
                               .bandwidth = PartsBandwidth,
                               .sends = SendsAll,
                               .expects = Collected};

}  // namespace nccl_tune::bench
