// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs, memory node and GPU each local rank of a node gets, inside what Slurm granted. Pure: a view of the node
// in, a Placement for each rank out; launcher/node_view reads the view, launcher/apply_placement carries it out.
//
// CPUs are the kernel's numbers of hardware threads; a core's threads always go to one rank. Nothing outside
// NodeView::allowed_cpus and allowed_numa is ever given.
//
// Threads: plain values. Ownership: own their texts.
#ifndef NCCL_TUNE_LAUNCHER_PLACEMENT_H_
#define NCCL_TUNE_LAUNCHER_PLACEMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::launcher {

struct Cpu {
  int id = 0;
  int core = 0;  // equal for the hardware threads of one core, on the whole node
};

struct NumaNode {
  int id = 0;
  std::vector<Cpu> cpus{};  // empty: memory alone. A CPU that several nodes name belongs to the first
};

struct GpuView {
  std::string visible_id{};   // what CUDA_VISIBLE_DEVICES would name: an index, or a UUID as it was given
  std::optional<int> numa{};  // absent: not known
  std::string pci{};          // "0000:41:00.0"; empty: not known
  std::string nic{};          // the nearest HCA; empty: none is near
};

struct NodeView {
  std::vector<NumaNode> numa_nodes{};  // in order; empty: the node tells nothing
  std::vector<int> allowed_cpus{};     // this process's affinity
  std::vector<int> allowed_numa{};     // whose memory it may use; empty: not known, then memory is left as it is
  std::vector<GpuView> gpus{};         // those this process sees, in the order in which it sees them
  std::string gpu_variable{};          // what narrows them: "CUDA_VISIBLE_DEVICES"
  std::vector<std::string> gpu_variables_counting{};  // VisibleGpus::counting
};

enum class Bind { kNone, kNuma, kGpu };

struct PlacementWish {
  Bind bind = Bind::kNone;
  bool own_gpu_only = false;  // each rank sees one GPU
};

// Whom to place.
struct LocalRanks {
  int count = 1;              // ranks on this node, 1 to 4096
  std::optional<int> only{};  // this task is that local rank; absent: this process starts all of them
  // With `only`: Slurm has already given this task CPUs, or GPUs, that are not the other tasks' too.
  bool own_cpus = false;
  bool own_gpus = false;
};

struct Placement {
  int local_rank = 0;
  std::vector<int> cpus{};      // sorted; empty: leave as it is
  std::optional<int> numa{};    // whose memory to prefer; absent: leave as it is
  base::Environment gpu_set{};  // variables to set so that the rank sees its GPU alone
  bool shared = false;          // another rank has some of the CPUs too; `reason` says so
  std::string reason{};         // one line: "GPU 2 at 0000:41:00.0 and mlx5_2 are on NUMA node 1: CPUs 16-31"
};

// One for each rank that this process places, by local rank.
//
// kNone: CPUs and memory stay. kNuma: the ranks are spread over the NUMA nodes that have allowed CPUs, in order and by
// their cores; a node's cores are divided evenly between its ranks. kGpu: rank i has GPU i, from the first again where
// there are fewer GPUs than ranks, and a share of the allowed CPUs of its NUMA node; where that is not known or has no
// allowed CPU, a share as by kNuma. With fewer cores than ranks, ranks share one. A task that has CPUs of its own keeps
// those on its NUMA node: the GPU's, by kNuma the one where it has most cores.
//
// Errors: no GPU for kGpu or own_gpu_only, no allowed CPU, a rank or count out of range.
base::Result<std::vector<Placement>> PlaceRanks(const NodeView& view, const PlacementWish& wish,
                                                const LocalRanks& ranks);

// Whether Slurm has narrowed this task's affinity: it lacks CPUs that the node's view has.
bool HasOwnCpus(const NodeView& view);

// "0-3,8"; sorts what it is given. Empty for none.
std::string FormatNumbers(std::vector<int> numbers);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_PLACEMENT_H_
