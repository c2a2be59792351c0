// SPDX-License-Identifier: Apache-2.0
//
// The text of NCCL_TUNE_PLAN from its members, for the files that write it.
#ifndef NCCL_TUNE_CORE_ENV_SHORT_JSON_H_
#define NCCL_TUNE_CORE_ENV_SHORT_JSON_H_

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace nccl_tune::env {

// At most kPlanLimit bytes: `why` is dropped first, then `kept`. Fails (kInternal) when the rest is longer.
base::Result<std::string> ShortJson(base::Json plan);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_SHORT_JSON_H_
