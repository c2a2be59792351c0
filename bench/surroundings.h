// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench reads of its machine before it measures, and what it sets for the libraries it loads.
//
// Threads: any.
#ifndef NCCL_TUNE_BENCH_SURROUNDINGS_H_
#define NCCL_TUNE_BENCH_SURROUNDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/mpi_settings.h"
#include "bench/options.h"
#include "bench/world.h"

namespace nccl_tune::bench {

// The whole file; empty when it cannot be read.
std::string ReadFile(const std::string& path);

// The folder of this program's file, links resolved: all_reduce_perf may be a link to it. "." when it is not known.
std::string OwnFolder();

// Cores that this process may run on, at least 1.
std::uint64_t UsableCores();

// The matrix of NCCL_TESTS_ALLTOALLV_MATRIX_FILE, else what the options hold. An Error names file and line.
base::Result<Traffic> ReadTraffic(const Options& options);

// What ChooseMpiSettings wants to know, from this machine.
MpiFacts ReadMpiFacts(const World& world, const base::Environment& environment);

// For --nccl-debug: NCCL's log goes into a file per process, %h and %p being its host name and process id, and never to
// stdout. Pure; nothing without the flag. `why` is empty for what needs no word.
std::vector<Setting> DebugSettings(const World& world, const Options& options, const base::Environment& environment);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SURROUNDINGS_H_
