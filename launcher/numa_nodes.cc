// SPDX-License-Identifier: Apache-2.0
#include "launcher/numa_nodes.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

Error Failure(const char* what, const std::string& seen) {
  return Error{.code = Code::kUnreadable,
               .what = std::string("hwloc ") + what + ": " + std::strerror(errno),
               .where = "NUMA nodes and cores",
               .seen = seen,
               .hint = "Use --bind none to go on without them"};
}

// `description` empty: this machine.
Result<Topology> Load(const std::string& description) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return Failure("does not start", "");
  Topology topology(raw);
  if (!description.empty() && hwloc_topology_set_synthetic(raw, description.c_str()) != 0) {
    return Failure("does not understand this machine", description);
  }
  constexpr unsigned long kFlags =
      HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
  // NUMA nodes and CPUs cannot be left out. An hwloc that does not know a flag yet (before 2.8) does without them.
  if (hwloc_topology_set_flags(raw, kFlags) != 0) hwloc_topology_set_flags(raw, 0);
  if (hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) != 0) return Failure("does not filter", "");
  // Without what a NUMA node hangs on, hwloc gives it the CPUs of the whole machine.
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_GROUP, HWLOC_OBJ_CORE}) {
    const auto filter = type == HWLOC_OBJ_CORE ? HWLOC_TYPE_FILTER_KEEP_ALL : HWLOC_TYPE_FILTER_KEEP_STRUCTURE;
    if (hwloc_topology_set_type_filter(raw, type, filter) != 0) return Failure("does not filter", "");
  }
  if (hwloc_topology_load(raw) != 0) return Failure("cannot read this machine", description);
  return topology;
}

std::vector<NumaNode> NumaNodesOf(hwloc_topology_t topology) {
  struct Known {
    NumaNode node;
    hwloc_const_cpuset_t cpus;
  };
  std::vector<Known> known;
  for (hwloc_obj_t one = nullptr; (one = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, one)) != nullptr;) {
    known.push_back({.node = {.id = static_cast<int>(one->os_index)}, .cpus = one->cpuset});
  }
  const int cores = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr;) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    const auto id = static_cast<int>(pu->os_index);
    const int core_number = core != nullptr ? static_cast<int>(core->logical_index) : cores + id;
    for (Known& one : known) {
      if (hwloc_bitmap_isset(one.cpus, pu->os_index) != 0) one.node.cpus.push_back({.id = id, .core = core_number});
    }
  }
  std::vector<NumaNode> nodes;
  for (Known& one : known) nodes.push_back(std::move(one.node));
  std::sort(nodes.begin(), nodes.end(), [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
  return nodes;
}

}  // namespace

Result<std::vector<NumaNode>> ReadNumaNodes() {
  NCCL_TUNE_ASSIGN_OR_RETURN(topology, Load(""));
  return NumaNodesOf(topology.get());
}

Result<std::vector<NumaNode>> MakeUpNumaNodes(const std::string& description) {
  if (description.empty()) {
    return Error{.code = Code::kInvalidInput, .what = "no machine is described", .expected = "\"numa:2 core:8 pu:2\""};
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(topology, Load(description));
  return NumaNodesOf(topology.get());
}

std::optional<std::pair<std::string, std::string>> QuietPlugins(const base::Environment& environment) {
  if (environment.contains("HWLOC_PLUGINS_PATH")) return std::nullopt;
  return std::pair<std::string, std::string>("HWLOC_PLUGINS_PATH", "/nonexistent");
}

}  // namespace nccl_tune::launcher
