// SPDX-License-Identifier: Apache-2.0
//
// Decides on the machine that this process runs on. No child, no thread, no signal: the process is not ours.
#ifndef NCCL_TUNE_ENVPLUGIN_LIVE_H_
#define NCCL_TUNE_ENVPLUGIN_LIVE_H_

#include <chrono>

#include "base/environment.h"
#include "base/result.h"
#include "core/nccl/nccl_version.h"
#include "envplugin/decide.h"

namespace nccl_tune::envplugin {

// As long as a loaded node with a task for every GPU may take; one process alone needs a few milliseconds.
inline constexpr std::chrono::milliseconds kDeadline{2000};

// Fails with kTimeout when reading takes longer than `deadline`: a part of the facts would be worse than none. A
// single read and a name server that does not answer can add their own time once.
base::Result<Decision> DecideHere(const base::Environment& environment, const nccl::NcclVersion& version,
                                  std::chrono::milliseconds deadline = kDeadline);

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_LIVE_H_
