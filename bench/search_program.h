// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench does besides one collective's table: pairs, bisect, --per-rail. Part of the program: writes to stdout
// and stderr.
#ifndef NCCL_TUNE_BENCH_SEARCH_PROGRAM_H_
#define NCCL_TUNE_BENCH_SEARCH_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/backend.h"
#include "bench/observer.h"
#include "bench/options.h"
#include "bench/results.h"
#include "bench/world.h"

namespace nccl_tune::bench {

// Before a backend is loaded: --per-rail starts this program again for each rail. The exit status; nothing: it is none.
std::optional<int> RunPerRail(const World& world, const Options& options, BackendKind backend,
                              const base::Environment& environment, const std::vector<std::string>& command);

// With a backend: a search, or what --per-rail asks of all nodes. The exit status; nothing: a table is wanted.
// `refusal`: why this process cannot go on.
std::optional<int> RunBesidesTables(Backend& backend, const World& world, Observer& observer,
                                    const base::Environment& environment, const Record& record,
                                    const std::optional<base::Error>& refusal);

// What a run of one rail says at its end to who started it; nothing in any other run. `lost_file`: all is well but for
// a result file that could not be written.
void TellRail(const World& world, const base::Environment& environment, const Record& record, bool lost_file);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_PROGRAM_H_
