// SPDX-License-Identifier: Apache-2.0
//
// A plan as one NCCL can use it, whose version is known for certain.
#ifndef NCCL_TUNE_ENVPLUGIN_FIT_VERSION_H_
#define NCCL_TUNE_ENVPLUGIN_FIT_VERSION_H_

#include "core/env/plan.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::envplugin {

// Takes out the variables of other libraries, which NCCL never asks for, and leaves unset what `version` does not read
// and what goes with such a variable.
void FitToVersion(const nccl::NcclVersion& version, env::Plan* plan);

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_FIT_VERSION_H_
