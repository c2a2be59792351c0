// SPDX-License-Identifier: Apache-2.0
//
// What rank 0's launcher does when a run has failed: tells the user, keeps the report, puts the job back into the
// queue.
#ifndef NCCL_TUNE_LAUNCHER_STEP_END_H_
#define NCCL_TUNE_LAUNCHER_STEP_END_H_

#include <cstdint>
#include <string>

#include "launcher/failure.h"
#include "launcher/options.h"

namespace nccl_tune::launcher {

inline constexpr const char* kReportFolder = "NCCL_TUNE_REPORT_DIR";
// Requeues of one job; what fails every time must end some day.
inline constexpr std::uint32_t kMostRequeues = 3;

// Whether the failure is one of those. Pure.
bool IsRequeued(const RequeueOn& on, const Failure& failure);

// Prints the report on stderr with `log`, the file of the first rank's output (empty: none), writes its JSON into
// `folder` (empty: nowhere), and asks Slurm to requeue the job, which has been requeued `restarts` times, where that is
// wished. Whatever fails of that is told and nothing more. Runs scontrol, for 10 s at most.
void ReportFailure(const Failure& failure, const std::string& log, const std::string& folder, const RequeueOn& on,
                   std::uint32_t restarts);

// Asks Slurm to kill the step "JOB.STEP"; says so where that fails. 10 s at most.
void KillStep(const std::string& step);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_STEP_END_H_
