// SPDX-License-Identifier: Apache-2.0
#include "launcher/preflight.h"

#include <algorithm>

namespace nccl_tune::launcher {

base::Result<Preflight> ParsePreflight(std::string_view text) {
  if (text == "off") return Preflight::kOff;
  if (text == "warn") return Preflight::kWarn;
  if (text == "fail") return Preflight::kFail;
  return base::Error{.code = base::Code::kInvalidInput,
                     .what = "no kind of preflight",
                     .seen = std::string(text),
                     .expected = "off, warn or fail"};
}

Verdict Judge(const std::vector<NodeEntry>& entries, const std::vector<FailedProbe>& failures, Preflight preflight,
              Severity least) {
  Verdict out;
  if (preflight == Preflight::kOff) return out;
  auto differences = DifferencesOf(failures);
  for (auto& difference : Compare(entries)) differences.push_back(std::move(difference));
  Agreed agreed = Agree(entries, &differences);
  out.lines = RenderDifferences(differences, least, entries.size());
  const bool grave = std::any_of(differences.begin(), differences.end(), [](const Difference& difference) {
    return difference.severity == Severity::kFail && !difference.settled;
  });
  if (grave && preflight == Preflight::kFail) {
    out.agreement.stop = true;
    out.lines.emplace_back(kStopped);
    return out;
  }
  out.agreement = std::move(agreed.agreement);
  out.lines.insert(out.lines.end(), agreed.lines.begin(), agreed.lines.end());
  return out;
}

std::optional<base::Error> FindSingletons(const StepSizes& sizes) {
  if (!sizes.step_tasks || sizes.pmix_ranks == 0 || *sizes.step_tasks == sizes.pmix_ranks) return std::nullopt;
  const std::string tasks = std::to_string(*sizes.step_tasks);
  base::Error out{.code = base::Code::kInvalidInput, .hint = "Start all tasks by one srun --mpi=pmix."};
  if (sizes.pmix_ranks == 1) {
    out.what = "you started " + tasks + " separate single-rank jobs: this step has " + tasks +
               " tasks, and for PMIx each is alone";
    out.hint += " No mpirun between srun and nccl-launch, and no PMIX_* variables that a task prolog or image has set.";
  } else {
    out.what = "PMIx counts " + std::to_string(sizes.pmix_ranks) + " ranks, but this step has " + tasks +
               " tasks: " + "they are not one job";
  }
  return out;
}

}  // namespace nccl_tune::launcher
