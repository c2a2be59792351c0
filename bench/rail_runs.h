// SPDX-License-Identifier: Apache-2.0
//
// --per-rail: this process starts itself again for each rail, one after the other, as all processes of the step do.
// First for a survey: whether all nodes have as many rails. A second PMIx client of the same task needs
// PMIX_MCA_gds=hash, as docs/launcher.md tells of programs behind nccl-launch.
//
// Threads: one. Errors: what a child had to say is on stderr already.
#ifndef NCCL_TUNE_BENCH_RAIL_RUNS_H_
#define NCCL_TUNE_BENCH_RAIL_RUNS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"
#include "bench/rails.h"

namespace nccl_tune::bench {

// In a child's environment: kRailSurvey, or the number of its rail.
inline constexpr const char* kRailVariable = "NCCL_BENCH_RAIL";
inline constexpr const char* kRailSurvey = "survey";
// And for a survey what RailsToText gives.
inline constexpr const char* kRailListVariable = "NCCL_BENCH_RAILS";

struct RailRuns {
  std::string program{};                 // path of what is started: this program
  std::vector<std::string> arguments{};  // from argv[0] on
  base::Environment environment{};
  BackendKind backend = BackendKind::kMpi;
  std::string host{};
  std::vector<Rail> rails{};  // of this node
  std::string collective{};
  bool leads = false;  // process 0 prints
  std::ostream* out = nullptr;
  std::ostream* notes = nullptr;
};

// The rails of the machine that this process runs on.
std::vector<Rail> ReadRails(const base::Environment& environment, BackendKind backend);

// The exit status: 0, 7 when a rail is slow or data was wrong, or that of a child that failed.
int RunRails(const RailRuns& runs);

// What a child does for a survey, of which the answer is for stdout: how many rails all nodes have, or which rails of
// any node went astray. Of an Error process 0 alone knows, the others get an empty answer.
base::Result<std::string> SurveyRails(Backend& backend, const std::string& text);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RAIL_RUNS_H_
