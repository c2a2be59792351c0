// SPDX-License-Identifier: Apache-2.0
//
// One process of an NCCL run: who it is among the others, its GPUs, and what connects them.
//
// Threads: the backend's own thread; NcclShared is what its workers use. Ownership: see nccl_gpu.h.
#ifndef NCCL_TUNE_BENCH_NCCL_PROCESS_H_
#define NCCL_TUNE_BENCH_NCCL_PROCESS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/nccl_gpu.h"
#include "bench/nccl_peers.h"
#include "bench/nccl_shared.h"

namespace nccl_tune::bench {

struct NcclProcess {
  explicit NcclProcess(const BackendSetup& its_setup) : setup(its_setup) {}

  BackendSetup setup;
  NcclShared shared{};
  NcclPeers peers{};
  Place place{};
  std::uint64_t leader = 0;  // first process of this one's group
  std::vector<Gpu> gpus{};

  std::size_t Threads() const { return static_cast<std::size_t>(setup.options.threads); }
  std::uint64_t GpuCount() const { return Threads() * static_cast<std::uint64_t>(setup.options.gpus); }
};

// Communicators.

// The groups of NCCL_TESTS_SPLIT, which each process can work out for itself. Before the ranks are connected.
void SetGroup(NcclProcess& process, std::uint64_t group);
// One communicator over all ranks, which the processes also tell each other numbers by; with groups one each besides.
base::Status ConnectRanks(NcclProcess& process);
// Other groups, which only the processes together know. All processes call it.
base::Status RegroupRanks(NcclProcess& process, std::optional<std::uint64_t> group);

// Buffers.

// Two of `bytes` on each GPU, and what -u needs beyond.
base::Status AllocateBuffers(NcclProcess& process, std::uint64_t bytes);
// As -R asks for; nothing without it.
base::Status RegisterBuffers(NcclProcess& process, std::uint64_t bytes);
// Registrations and communicators.
base::Status ReleaseAll(NcclProcess& process);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_NCCL_PROCESS_H_
