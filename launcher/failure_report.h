// SPDX-License-Identifier: Apache-2.0
//
// A failure of a step as text for a person and as JSON for programs (docs/formats.md). Pure.
#ifndef NCCL_TUNE_LAUNCHER_FAILURE_REPORT_H_
#define NCCL_TUNE_LAUNCHER_FAILURE_REPORT_H_

#include <string>
#include <string_view>

#include "launcher/failure.h"

namespace nccl_tune::launcher {

// "SIGSEGV"; "signal 35" for one without a name.
std::string SignalName(int signal);

// For stderr: under 40 lines of printable ASCII, however many ranks and nodes there are, each ending with a line end.
std::string RenderFailure(const Failure& failure);

// One JSON object and a line end. Bytes that are not UTF-8 are replaced.
std::string FailureJson(const Failure& failure);

// "failure-JOB.STEP.json". What is not a letter, a digit, "-", "+" or "_" in the ids becomes "_".
std::string FailureFileName(const Failure& failure);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_FAILURE_REPORT_H_
