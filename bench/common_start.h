// SPDX-License-Identifier: Apache-2.0
//
// What comes before the first collective, the same for a table and for a search: whether all processes are about to do
// the same (same_start.h), who they are, and which sizes the memory holds.
//
// All processes call each of these, in the same order, after Connect and before Join. Threads: the backend's own.
#ifndef NCCL_TUNE_BENCH_COMMON_START_H_
#define NCCL_TUNE_BENCH_COMMON_START_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"
#include "bench/same_start.h"

namespace nccl_tune::bench {

// All get process 0's decision. `refusal`: why this process cannot go on, known before; the others learn it.
base::Result<StartDecision> AgreeOnStart(Backend& backend, const Options& options, const Place& place,
                                         const std::optional<base::Error>& refusal);

// DevicesToText of all processes, on process 0; an empty list on the others.
base::Result<std::vector<std::string>> GatherDevices(Backend& backend);

// Cuts the sizes to the memory, as nccl-tests does. The new greatest size, in bytes; nothing when they fit.
base::Result<std::optional<std::uint64_t>> CutToMemory(Backend& backend, Options& options);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_COMMON_START_H_
