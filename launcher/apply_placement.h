// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel what this process may use, and binds it. Narrows only: what lies outside the process's affinity and
// its cgroup's memory nodes is refused before anything is changed.
//
// Memory is *preferred* (MPOL_PREFERRED), not bound: a strict policy (MPOL_BIND) on a full NUMA node ends the job by
// the out-of-memory killer while the other nodes have room; a preferred one takes the next node. Both outlive exec. It
// is what hwloc_set_membind without HWLOC_MEMBIND_STRICT asks for; the system call itself needs no topology in a child.
//
// Threads: the calling thread alone is bound, so call it in the child between fork and exec, or before threads start.
#ifndef NCCL_TUNE_LAUNCHER_APPLY_PLACEMENT_H_
#define NCCL_TUNE_LAUNCHER_APPLY_PLACEMENT_H_

#include <vector>

#include "base/result.h"
#include "launcher/placement.h"

namespace nccl_tune::launcher {

struct Granted {
  std::vector<int> cpus{};          // affinity, sorted
  std::vector<int> memory_nodes{};  // sorted; empty: the kernel does not tell (no NUMA, or a container forbids to ask)
};

// An Error when the kernel does not tell the affinity.
base::Result<Granted> ReadGranted();

// Binds CPUs, then memory. An Error when `placement` asks for more than is granted (nothing is changed then), or when
// the kernel refuses; where it refuses memory alone, as containers do without CAP_SYS_NICE, the CPUs stay bound and the
// message says so.
base::Status ApplyPlacement(const Placement& placement);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_APPLY_PLACEMENT_H_
