// SPDX-License-Identifier: Apache-2.0
//
// A node's side of report_protocol.h. Runs in the child of node_plan.h, as the user.
#ifndef NCCL_TUNE_SPANK_REPORT_SENDER_H_
#define NCCL_TUNE_SPANK_REPORT_SENDER_H_

#include <chrono>
#include <string_view>

#include "spank/report_protocol.h"

namespace nccl_tune::spank {

// Tries every address of `collector` (text of a CollectorPlace) at once and sends over the first that answers. True
// when srun has said that it has the report; false after `patience` at most.
bool SendReport(std::string_view collector, const Report& report, std::chrono::milliseconds patience);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_REPORT_SENDER_H_
