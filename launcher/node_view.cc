// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_view.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

#include "base/parse_number.h"
#include "launcher/apply_placement.h"
#include "launcher/numa_nodes.h"

namespace nccl_tune::launcher {
namespace {

// How near an HCA is to a GPU: first by switches in common, then by NUMA node.
struct Nearness {
  std::size_t common = 0;
  bool same_numa = false;
  auto operator<=>(const Nearness&) const = default;
};

bool IsUsable(const facts::Hca& hca, const std::vector<std::string>& selected) {
  if (!selected.empty()) return std::find(selected.begin(), selected.end(), hca.name) != selected.end();
  return !hca.is_software && std::any_of(hca.ports.begin(), hca.ports.end(), [](const facts::IbPort& port) {
    return port.state == facts::PortState::kActive;
  });
}

// Two that hang on one root port are below the same switch: such a port has one link.
Nearness Measure(const facts::Gpu& gpu, const facts::Hca& hca) {
  Nearness nearness{.same_numa = gpu.numa_node && gpu.numa_node == hca.numa_node};
  while (nearness.common < gpu.pci_path.size() && nearness.common < hca.pci_path.size() &&
         gpu.pci_path[nearness.common] == hca.pci_path[nearness.common]) {
    ++nearness.common;
  }
  return nearness;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// A shortened UUID must fit one GPU alone. That of a part is "MIG-GPU-UUID/GI/CI" (drivers before 470), or the part's
// own.
const facts::Gpu* FindByUuid(std::string_view id, const facts::Node& node, const std::vector<GpuUuid>& uuids) {
  if (id.starts_with("MIG-GPU-")) id.remove_prefix(4);
  const std::string wanted = Lower(id.substr(0, id.find('/')));
  const facts::Gpu* found = nullptr;
  for (const facts::Gpu& gpu : node.gpus) {
    for (const GpuUuid& one : uuids) {
      if (one.pci != gpu.pci || !Lower(one.uuid).starts_with(wanted)) continue;
      if (found != nullptr) return nullptr;
      found = &gpu;
    }
  }
  return found != nullptr || node.gpus.size() != 1 ? found : &node.gpus.front();
}

bool NamesUuids(const VisibleGpus& gpus) {
  return !gpus.ids.empty() && (gpus.ids.front().starts_with("GPU-") || gpus.ids.front().starts_with("MIG-"));
}

}  // namespace

std::vector<GpuUuid> ReadGpuUuids(const hw::Tree& tree, const facts::Node& node) {
  constexpr std::string_view kKey = "GPU UUID:";
  std::vector<GpuUuid> uuids;
  for (const facts::Gpu& gpu : node.gpus) {
    const auto text = tree.Read("proc/driver/nvidia/gpus/" + gpu.pci.ToString() + "/information");
    const std::size_t at = text.ok() ? text->find(kKey) : std::string::npos;
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(*text).substr(at + kKey.size());
    const std::string_view uuid = base::Trim(rest.substr(0, rest.find('\n')));
    if (uuid.starts_with("GPU-")) uuids.push_back({.pci = gpu.pci, .uuid = std::string(uuid)});
  }
  return uuids;
}

std::vector<std::string> NearestHcas(const facts::Node& node, const std::vector<std::string>& selected) {
  std::map<std::string, int> taken;  // GPUs that have this HCA
  std::vector<std::string> nearest;
  for (const facts::Gpu& gpu : node.gpus) {
    const facts::Hca* best = nullptr;
    Nearness best_nearness;
    for (const facts::Hca& hca : node.hcas) {
      if (!IsUsable(hca, selected)) continue;
      const Nearness nearness = Measure(gpu, hca);
      const bool is_near = nearness.common > 0 || nearness.same_numa;
      const bool is_better = best == nullptr || nearness > best_nearness ||
                             (nearness == best_nearness && taken[hca.name] < taken[best->name]);
      if (!is_near || !is_better) continue;
      best = &hca;
      best_nearness = nearness;
    }
    if (best != nullptr) ++taken[best->name];
    nearest.push_back(best != nullptr ? best->name : "");
  }
  return nearest;
}

std::vector<GpuView> ViewGpus(const VisibleGpus& gpus, const facts::Node& node, const std::vector<std::string>& nics,
                              const std::vector<GpuUuid>& uuids, const base::Environment& environment) {
  std::vector<GpuView> views;
  for (const std::string& id : gpus.ids) {
    const auto number = NumberOnNode(id, gpus, environment, node.gpus.size());
    const facts::Gpu* gpu = number ? &node.gpus[*number] : nullptr;
    if (NamesUuids(gpus)) gpu = FindByUuid(id, node, uuids);
    GpuView view{.visible_id = id};
    if (gpu != nullptr) {
      const auto at = static_cast<std::size_t>(gpu - node.gpus.data());
      view.numa = gpu->numa_node;
      view.pci = gpu->pci.ToString();
      view.nic = at < nics.size() ? nics[at] : "";
    }
    views.push_back(std::move(view));
  }
  return views;
}

base::Result<NodeView> ReadNodeView(const hw::Tree& tree, const facts::Node& node,
                                    const std::vector<std::string>& selected, const base::Environment& environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(gpus, FindVisibleGpus(environment, node));
  NCCL_TUNE_ASSIGN_OR_RETURN(granted, ReadGranted());
  NCCL_TUNE_ASSIGN_OR_RETURN(numa_nodes, ReadNumaNodes());
  const auto uuids = NamesUuids(gpus) ? ReadGpuUuids(tree, node) : std::vector<GpuUuid>();
  return NodeView{.numa_nodes = std::move(numa_nodes),
                  .allowed_cpus = std::move(granted.cpus),
                  .allowed_numa = std::move(granted.memory_nodes),
                  .gpus = ViewGpus(gpus, node, NearestHcas(node, selected), uuids, environment),
                  .gpu_variable = gpus.variable,
                  .gpu_variables_counting = gpus.counting};
}

}  // namespace nccl_tune::launcher
