// SPDX-License-Identifier: Apache-2.0
//
// A site policy in a few lines, for who wrote it.
#ifndef NCCL_TUNE_REPORT_POLICY_TEXT_H_
#define NCCL_TUNE_REPORT_POLICY_TEXT_H_

#include <string>

#include "core/policy/site_policy.h"

namespace nccl_tune::report {

// When a [[when]] block holds: "partition gpu or debug, nodes node[1-4]".
std::string ConditionText(const policy::SiteCondition& condition);

// What the main part says, one line a subject, then one paragraph for each [[when]] block. Lines of at most 80 columns
// where no word is longer.
std::string PolicyText(const policy::SiteFile& file);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_POLICY_TEXT_H_
