// SPDX-License-Identifier: Apache-2.0
//
// Ends all tasks of a step for a program that does not link PMIx: libpmix is looked for at run time, and only then.
//
// Threads: any, once. Errors: why the step was not asked to end; what the server then does is not waited for.
#ifndef NCCL_TUNE_PMIX_ABORT_STEP_H_
#define NCCL_TUNE_PMIX_ABORT_STEP_H_

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::pmix {

// Connects and aborts; say why on stderr first. For a process that has not connected by any library and will not.
// kNotFound without a PMIx server of this step or without the library, kInternal when the server refuses.
base::Status AbortStep(const base::Environment& environment, int code);

}  // namespace nccl_tune::pmix

#endif  // NCCL_TUNE_PMIX_ABORT_STEP_H_
