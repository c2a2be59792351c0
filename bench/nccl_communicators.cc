// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>
#include <utility>

#include "bench/nccl_process.h"
#include "bench/split.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Result;
using base::Status;

// NCCL's id, made by process `leader` and known to all whose leader it is. All processes take part.
Result<ncclUniqueId> NewId(NcclProcess& process, const std::string& key, std::uint64_t leader) {
  ncclUniqueId id{};
  if (process.place.process == leader) {
    NCCL_TUNE_RETURN_IF_ERROR(
        process.shared.nccl.Nccl(process.shared.nccl.library.GetUniqueId(&id), "ncclGetUniqueId"));
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(text, process.peers.Share(key, leader, std::string(id.internal, sizeof id.internal)));
  if (text.size() != sizeof id.internal) {
    return Error{.what = "has " + std::to_string(text.size()) + " bytes",
                 .where = "NCCL's id from process " + std::to_string(leader)};
  }
  text.copy(id.internal, sizeof id.internal);
  return id;
}

ncclConfig_t Config(const Options& options) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  if (options.cta_policy) config.CTAPolicy = *options.cta_policy;
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  config.nvlinkCentricSched = 1;  // as nccl-tests: the same schedule is measured
#endif
  return config;
}

// For the GPUs [first, last) of this process.
Status InitialisePart(NcclProcess& process, const ncclUniqueId& id, std::uint64_t ranks, bool world,
                      std::span<Gpu> part) {
  NcclState& nccl = process.shared.nccl;
  ncclConfig_t config = Config(process.setup.options);
  NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.GroupStart(), "ncclGroupStart"));
  for (Gpu& gpu : part) {
    NCCL_TUNE_RETURN_IF_ERROR(nccl.Cuda(cudaSetDevice(gpu.index), "cudaSetDevice"));
    const std::uint64_t rank = world ? gpu.world_rank : gpu.rank;
    NCCL_TUNE_RETURN_IF_ERROR(
        nccl.Nccl(nccl.library.CommInitRankConfig(world ? &gpu.world : &gpu.communicator, static_cast<int>(ranks), id,
                                                  static_cast<int>(rank), &config),
                  "ncclCommInitRankConfig"));
  }
  return nccl.Nccl(nccl.library.GroupEnd(), "ncclCommInitRankConfig");
}

// With -p each worker's GPUs in a thread of their own.
Status Initialise(NcclProcess& process, const ncclUniqueId& id, std::uint64_t ranks, bool world) {
  if (!process.setup.options.parallel_init || process.Threads() == 1)
    return InitialisePart(process, id, ranks, world, process.gpus);
  const auto each = static_cast<std::size_t>(process.setup.options.gpus);
  std::vector<Status> statuses(process.Threads(), base::Ok());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < process.Threads(); ++i) {
    threads.emplace_back([&, i] {
      statuses[i] = InitialisePart(process, id, ranks, world, std::span(process.gpus).subspan(i * each, each));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) NCCL_TUNE_RETURN_IF_ERROR(status);
  return base::Ok();
}

// Groups that only the processes together know.
Status FindGroups(NcclProcess& process, std::optional<std::uint64_t> group) {
  constexpr double kNone = -1;
  const double own = group ? static_cast<double>(*group) : kNone;
  NCCL_TUNE_ASSIGN_OR_RETURN(all, process.shared.AllGather({own}));
  process.place.group = group.value_or(0);
  process.place.group_process = 0;
  process.place.group_processes = 0;
  process.leader = process.place.process;
  for (std::size_t number = 0; group && number < all.size(); ++number) {
    if (all[number] != own) continue;
    if (process.place.group_processes == 0) process.leader = number;
    if (number == process.place.process) process.place.group_process = process.place.group_processes;
    ++process.place.group_processes;
  }
  process.place.ranks = process.place.group_processes * process.GpuCount();
  for (std::size_t i = 0; i < process.gpus.size(); ++i)
    process.gpus[i].rank = process.place.group_process * process.GpuCount() + i;
  return base::Ok();
}

// A communicator for this process's group; none where it is in no group or alone with all.
Status ConnectGroup(NcclProcess& process) {
  if (process.place.group_processes == process.place.processes) {
    for (Gpu& gpu : process.gpus) gpu.communicator = gpu.world;
    return base::Ok();
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(id, NewId(process, "nccl-bench.group", process.leader));
  if (process.place.group_processes == 0) return base::Ok();
  return Initialise(process, id, process.place.ranks, false);
}

}  // namespace

void SetGroup(NcclProcess& process, std::uint64_t group) {
  process.place.group = group;
  process.place.group_process = 0;
  process.place.group_processes = 0;
  for (std::uint64_t number = 0; number < process.place.processes; ++number) {
    const std::uint64_t other = process.setup.options.split ? GroupOf(*process.setup.options.split, number) : 0;
    if (other != group) continue;
    if (number == process.place.process) process.place.group_process = process.place.group_processes;
    ++process.place.group_processes;
  }
  process.place.ranks = process.place.group_processes * process.GpuCount();
}

Status ConnectRanks(NcclProcess& process) {
  NCCL_TUNE_ASSIGN_OR_RETURN(id, NewId(process, "nccl-bench.id", 0));
  NCCL_TUNE_RETURN_IF_ERROR(Initialise(process, id, process.place.processes * process.GpuCount(), true));
  for (Gpu& gpu : process.gpus) gpu.communicator = gpu.world;
  if (!process.setup.options.split) return base::Ok();
  NCCL_TUNE_RETURN_IF_ERROR(FindGroups(process, process.place.group));
  return ConnectGroup(process);
}

Status RegroupRanks(NcclProcess& process, std::optional<std::uint64_t> group) {
  NcclState& nccl = process.shared.nccl;
  for (Gpu& gpu : process.gpus) {
    if (gpu.communicator != gpu.world && gpu.communicator != nullptr) {
      NCCL_TUNE_RETURN_IF_ERROR(nccl.Nccl(nccl.library.CommDestroy(gpu.communicator), "ncclCommDestroy"));
    }
    gpu.communicator = nullptr;
  }
  NCCL_TUNE_RETURN_IF_ERROR(FindGroups(process, group));
  NCCL_TUNE_RETURN_IF_ERROR(ConnectGroup(process));
  process.shared.ranks = process.place.ranks;
  return base::Ok();
}

}  // namespace nccl_tune::bench
