// SPDX-License-Identifier: Apache-2.0
//
// Many nodes' explanations as one table a plan.
#ifndef NCCL_TUNE_SPANK_REPORT_GROUPS_H_
#define NCCL_TUNE_SPANK_REPORT_GROUPS_H_

#include <string>
#include <vector>

#include "spank/report_protocol.h"

namespace nccl_tune::spank {

// Those with one key under one line that names their nodes, with the text of the first of them; the largest group
// first. Every line of the answer is printable, whatever the reports hold.
std::string GroupReports(std::vector<Report> reports);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_REPORT_GROUPS_H_
