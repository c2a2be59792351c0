// SPDX-License-Identifier: Apache-2.0
//
// What the workers of a process have in common, and how the processes tell each other numbers: NCCL all-reduces and
// all-gathers of a few doubles over all ranks.
//
// Threads: Wait from any, for its own GPUs; Reduce and AllGather while all workers meet. Ownership: the backend owns
// everything that is pointed to.
#ifndef NCCL_TUNE_BENCH_NCCL_SHARED_H_
#define NCCL_TUNE_BENCH_NCCL_SHARED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/nccl_gpu.h"
#include "bench/thread_team.h"

namespace nccl_tune::bench {

// What the workers of a process have in common.
struct NcclShared {
  NcclState nccl{};
  const Options* options = nullptr;
  std::span<Gpu> gpus{};        // of all workers
  std::uint64_t ranks = 1;      // of the group
  std::uint64_t processes = 1;  // of all groups
  std::uint64_t process = 0;
  std::uint64_t buffer_bytes = 0;
  ThreadTeam* team = nullptr;

  // Over all processes, while all workers meet. `values` of all processes, one after the other.
  base::Result<std::vector<double>> Reduce(const std::vector<double>& values, Combine how);
  base::Result<std::vector<double>> AllGather(const std::vector<double>& values);
  // Waits for the streams of `gpus`.
  base::Status Wait(std::span<Gpu> waited);

 private:
  base::Status Reserve(Gpu& gpu, std::uint64_t count);
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_SHARED_H_
