// SPDX-License-Identifier: Apache-2.0
//
// This node as launcher/placement looks at it: hwloc's NUMA nodes and cores, the kernel's grant, and of facts::Node the
// GPUs that the task sees, each with the HCA nearest to it.
//
// Threads: one at a time. Ownership: views own what they hold.
#ifndef NCCL_TUNE_LAUNCHER_NODE_VIEW_H_
#define NCCL_TUNE_LAUNCHER_NODE_VIEW_H_

#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/facts/node.h"
#include "core/facts/pci_address.h"
#include "hw/tree.h"
#include "launcher/placement.h"
#include "launcher/visible_gpus.h"

namespace nccl_tune::launcher {

struct GpuUuid {
  facts::PciAddress pci;
  std::string uuid;  // "GPU-de94b31a-..."
};

// From NVIDIA's kernel driver, below proc/driver/nvidia/gpus; what cannot be read is left out, the text is bounded.
std::vector<GpuUuid> ReadGpuUuids(const hw::Tree& tree, const facts::Node& node);

// The HCA nearest to each GPU of the node, by its index in `node.gpus`; empty: none. Of `selected` (verbs names; empty:
// all that have an active port) the one below the same root port with most of the path to it in common, else one on the
// same NUMA node. Of equally near ones that which fewer GPUs before have.
std::vector<std::string> NearestHcas(const facts::Node& node, const std::vector<std::string>& selected);

// The GPUs that are visible, in their order. What an id means on the node: launcher/visible_gpus.h; a UUID is looked up
// in `uuids`, and the parts of the only GPU of a node are that GPU's. Where it is not known, so are its place and HCA.
std::vector<GpuView> ViewGpus(const VisibleGpus& gpus, const facts::Node& node, const std::vector<std::string>& nics,
                              const std::vector<GpuUuid>& uuids, const base::Environment& environment);

// Reads all of it. `tree`: the live machine. `node`: its facts. `selected`: names of the HCAs that NCCL will use.
// Errors: a bad list of visible GPUs, no affinity, hwloc fails.
base::Result<NodeView> ReadNodeView(const hw::Tree& tree, const facts::Node& node,
                                    const std::vector<std::string>& selected, const base::Environment& environment);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_NODE_VIEW_H_
