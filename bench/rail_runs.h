// SPDX-License-Identifier: Apache-2.0
//
// --per-rail: this process starts itself again for each rail, one after the other, as all processes of the step do.
// First for a survey: whether all nodes have as many rails and can go on; and after each round for another, which tells
// all which rails are measured again (rail_search.h). A second PMIx client of the same task needs PMIX_MCA_gds=hash, as
// docs/launcher.md tells of programs behind nccl-launch.
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
#include "bench/rail_files.h"
#include "bench/rails.h"

namespace nccl_tune::bench {

// The value of kRailVariable for a survey.
inline constexpr const char* kRailSurvey = "survey";
// And for a survey what RailsToText, RefusalToText or WishToText give.
inline constexpr const char* kRailListVariable = "NCCL_BENCH_RAILS";

struct RailRuns {
  std::string program{};                 // path of what is started: this program
  std::vector<std::string> arguments{};  // from argv[0] on
  base::Environment environment{};
  BackendKind backend = BackendKind::kMpi;
  std::string host{};
  std::vector<Rail> rails{};  // of this node
  std::string collective{};
  std::string json_file{};  // of which each rail's name is made; empty: none
  std::string csv_file{};
  bool leads = false;  // process 0 prints
  std::ostream* out = nullptr;
  std::ostream* notes = nullptr;
};

// The rails of the machine that this process runs on.
std::vector<Rail> ReadRails(const base::Environment& environment, BackendKind backend);

// The exit status: 0, 7 when a rail is slow or data was wrong, 1 when a result file could not be written, 6 before
// anything is measured, or that of a child that failed.
int RunRails(const RailRuns& runs);

// What a child does for a survey, of which the answer is for stdout: how many rails all nodes have, or which are
// measured again. Of an Error process 0 alone knows, the others get an empty answer.
base::Result<std::string> SurveyRails(Backend& backend, const std::string& text);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RAIL_RUNS_H_
