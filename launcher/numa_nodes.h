// SPDX-License-Identifier: Apache-2.0
//
// The NUMA nodes of this machine with their cores and CPUs, from hwloc: only what this process's cgroup allows and what
// is online. No PCI devices and no GPUs are looked for: facts::Node has them. 1.2 ms on a machine of 2 CPUs, and 3 ms
// more (13 ms the first time) where hwloc's plugins are installed, which QuietPlugins avoids.
//
// Threads: one at a time; no state stays. hwloc 2.5 to 2.7.0 changes the process's environment: copy it before.
#ifndef NCCL_TUNE_LAUNCHER_NUMA_NODES_H_
#define NCCL_TUNE_LAUNCHER_NUMA_NODES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "launcher/placement.h"

namespace nccl_tune::launcher {

// By number. A node of memory alone, such as a GPU's on Grace, has no CPUs, or those it is nearest to, after the node
// whose they are. HWLOC_XMLFILE and HWLOC_SYNTHETIC of a user are believed: what is asked for outside the process's
// affinity is never given (launcher/placement.h). An Error when hwloc cannot tell.
base::Result<std::vector<NumaNode>> ReadNumaNodes();

// The same of a machine that hwloc makes up: "numa:2 core:8 pu:2".
base::Result<std::vector<NumaNode>> MakeUpNumaNodes(const std::string& description);

// What main is to set in this process, not for PROGRAM, before PMIx or hwloc start: hwloc then does not open its
// plugins (OpenCL, OpenGL, PCI), of which we use none. Nothing when the user has set it.
std::optional<std::pair<std::string, std::string>> QuietPlugins(const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_NUMA_NODES_H_
