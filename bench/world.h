// SPDX-License-Identifier: Apache-2.0
//
// Who started this process and how many it started, before any library is asked. Pure.
#ifndef NCCL_TUNE_BENCH_WORLD_H_
#define NCCL_TUNE_BENCH_WORLD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

enum class Starter { kNobody, kSlurm, kMpirun };

struct World {
  Starter starter = Starter::kNobody;
  std::uint64_t rank = 0;
  std::uint64_t size = 1;
  std::uint64_t local_rank = 0;
  std::uint64_t local_size = 1;
  bool has_pmix = false;  // a PMIx server that belongs to this start
};

// From Open MPI's mpirun, else from Slurm, else one process. An Error when variables of the starter are malformed, or
// when the PMIX_* variables are left over from an outer step.
base::Result<World> ReadWorld(const base::Environment& environment);

// Whether the processes can find each other; the Error names the right srun line.
base::Status CheckStart(const World& world, BackendKind backend);

// Why one process measures alone though its job has room for more, with the right srun line; nothing: it is meant so.
std::optional<std::string> WhyAlone(const World& world, const base::Environment& environment);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_WORLD_H_
