// SPDX-License-Identifier: Apache-2.0
#include "launcher/step_end.h"

#include <algorithm>
#include <iostream>

#include "hw/run_program.h"
#include "launcher/failure_report.h"
#include "launcher/say.h"
#include "launcher/write_report.h"

namespace nccl_tune::launcher {
namespace {

void Requeue(const Failure& failure, std::uint32_t restarts) {
  if (restarts >= kMostRequeues) {
    Say("not requeued: the job has been requeued " + std::to_string(restarts) + " times already");
    return;
  }
  constexpr std::chrono::seconds kPatience(10);
  const auto done = hw::RunProgram({"scontrol", "requeue", failure.job}, kPatience);
  Say(done.ok() ? "job " + failure.job + " is requeued"
                : "job " + failure.job + " could not be requeued: " + done.error().ToString() +
                      ". Only batch jobs can; sbatch --requeue and JobRequeue in slurm.conf allow it");
}

}  // namespace

bool IsRequeued(const RequeueOn& on, const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kNodeLost:
      return on.node;
    case FailureKind::kHang:
      return on.hang;
    case FailureKind::kTimeout:
      return on.timeout;
    case FailureKind::kRankEnded:
    case FailureKind::kCannotStart:
      break;
  }
  if (!failure.first) return false;
  if (failure.first->signal) return on.signal;
  return std::find(on.exit_codes.begin(), on.exit_codes.end(), failure.first->exit_code.value_or(0)) !=
         on.exit_codes.end();
}

void ReportFailure(const Failure& failure, const std::string& log, const std::string& folder, const RequeueOn& on,
                   std::uint32_t restarts) {
  std::cerr << RenderFailure(failure) + (log.empty() ? "" : "  all that it wrote: " + log + "\n") << std::flush;
  if (!folder.empty()) {
    const auto path = WriteReport(folder, FailureFileName(failure), FailureJson(failure));
    Say(path.ok() ? "report: " + *path : "the report is not kept: " + path.error().ToString());
  }
  if (IsRequeued(on, failure)) Requeue(failure, restarts);
}

void KillStep(const std::string& step) {
  constexpr std::chrono::seconds kPatience(10);
  const auto done = hw::RunProgram({"scancel", "--signal=KILL", step}, kPatience);
  if (!done.ok()) Say("step " + step + " could not be killed: " + done.error().ToString());
}

}  // namespace nccl_tune::launcher
