// SPDX-License-Identifier: Apache-2.0
#include "report/details_text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "report/wrap.h"

namespace nccl_tune::report {
namespace {

using base::Json;
using facts::Tristate;

std::string_view Text(Tristate value) {
  constexpr std::string_view kNames[] = {"no", "yes", "unknown"};
  return kNames[static_cast<std::size_t>(value)];
}

std::string_view Text(facts::IommuMode mode) {
  constexpr std::string_view kNames[] = {"identity", "translated", "other"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::string_view Text(facts::FoundBy by) {
  constexpr std::string_view kNames[] = {"LD_PRELOAD", "NCCL_NET_PLUGIN", "LD_LIBRARY_PATH", "the loader's cache",
                                         "a usual folder"};
  return kNames[static_cast<std::size_t>(by)];
}

void Append(std::string* out, std::string_view text) {
  if (!out->empty() && !text.empty()) *out += ", ";
  *out += text;
}

// What stands at the address: names of RDMA devices, or a GPU.
std::string OwnersOf(const facts::PciAddress& pci, const facts::Node& node) {
  std::string out;
  for (const auto& hca : node.hcas) {
    if (hca.pci == pci) Append(&out, hca.name);
  }
  const bool is_gpu = std::any_of(node.gpus.begin(), node.gpus.end(), [&](const auto& g) { return g.pci == pci; });
  return is_gpu ? "GPU" : out;
}

std::string FunctionLine(const facts::PciDetails& function, const std::string& owner) {
  std::string out = owner;
  std::string link = function.link.ToString();
  const auto& now = function.link.current.gigatransfers;
  const auto& most = function.link.maximum.gigatransfers;
  if (owner == "GPU" && now && most && *now < *most) link += " (a GPU lowers its speed when idle)";
  Append(&out, link);
  if (function.iommu) Append(&out, "IOMMU " + std::string(Text(*function.iommu)));
  if (function.relaxed_ordering != Tristate::kUnknown) {
    Append(&out, function.relaxed_ordering == Tristate::kYes ? "relaxed ordering" : "no relaxed ordering");
  }
  return out;
}

// Bridges that redirect by name, the others as a number.
std::string AcsLine(const std::vector<facts::BridgeDetails>& bridges) {
  std::string redirecting;
  std::size_t unknown = 0;
  for (const auto& bridge : bridges) {
    if (bridge.acs_redirect == Tristate::kUnknown) ++unknown;
    if (bridge.acs_redirect == Tristate::kYes) Append(&redirecting, bridge.pci.ToString());
  }
  if (!redirecting.empty()) return "peer traffic is sent up to the root complex by " + redirecting;
  if (unknown == 0) return "no bridge sends peer traffic up to the root complex";
  return "unknown for " + std::to_string(unknown) + " of " + std::to_string(bridges.size()) +
         " bridges (their settings are readable for root only)";
}

std::string PeerMemoryLine(const facts::GpuDirect& gpu) {
  std::string out;
  if (gpu.nv_mem) Append(&out, "nv_mem");
  if (gpu.nv_mem_nc) Append(&out, "nv_mem_nc");
  if (gpu.nvidia_peermem) Append(&out, "nvidia-peermem");
  if (gpu.peermem_module) Append(&out, "module nvidia_peermem loaded");
  return out.empty() && gpu.nvidia_driver ? "no peer memory module" : out;
}

std::string DriverLine(const facts::GpuDirect& gpu) {
  if (!gpu.nvidia_driver) return "";
  const bool open = gpu.nvidia_open_module.value_or(false);
  return *gpu.nvidia_driver + (open ? ", open kernel module" : ", proprietary kernel module");
}

std::string LibraryLine(const facts::FoundLibrary& library) {
  std::string out = library.path;
  if (library.version) Append(&out, *library.version + (library.version_from_name ? " by its name" : " by its text"));
  Append(&out, "from " + std::string(Text(library.found_by)));
  return out;
}

std::string PluginLine(const facts::NetPlugin& plugin) {
  if (plugin.is_disabled) return "off by NCCL_NET_PLUGIN=none";
  if (plugin.library) return LibraryLine(*plugin.library);
  return plugin.asked.empty() ? "none found" : "NCCL_NET_PLUGIN=" + plugin.asked + ": not found";
}

std::string MachineText(const facts::NodeDetails& details, std::size_t column) {
  std::string out;
  const auto line = [&](const char* label, const std::string& text) {
    if (!text.empty()) out += Wrap(std::string("  ") + label, column, text);
  };
  line("kernel", details.kernel.value_or(""));
  line("NVIDIA driver", DriverLine(details.gpu_direct));
  line("peer memory", PeerMemoryLine(details.gpu_direct));
  if (details.has_iommu) line("IOMMU", *details.has_iommu ? "on" : "none");
  if (!details.bridges.empty()) line("ACS", AcsLine(details.bridges));
  if (details.rdma_shared_between_namespaces) {
    line("RDMA devices", *details.rdma_shared_between_namespaces ? "shared: every container lists all of them"
                                                                 : "exclusive: a container lists its own");
  }
  if (details.locked_memory) {
    const auto& bytes = details.locked_memory->bytes;
    line("locked memory", bytes ? "at most " + std::to_string(*bytes) + " bytes" : "unlimited");
  }
  if (details.libraries) {
    line("NCCL",
         details.libraries->nccl ? LibraryLine(*details.libraries->nccl) : "not found (a program may bring its own)");
    line("network plugin", PluginLine(details.libraries->net_plugin));
  }
  return out.empty() ? "" : "Machine\n" + out;
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json LinkStateJson(const facts::PciLinkState& state) {
  return {{"gt_per_s", OrNull(state.gigatransfers)}, {"width", OrNull(state.width)}};
}

Json LibraryJson(const std::optional<facts::FoundLibrary>& library) {
  if (!library) return Json();
  return {{"path", library->path},
          {"version", OrNull(library->version)},
          {"version_from_name", library->version_from_name},
          {"found_by", Text(library->found_by)}};
}

Json GpuDirectJson(const facts::GpuDirect& gpu) {
  return {{"nv_mem", gpu.nv_mem},
          {"nv_mem_nc", gpu.nv_mem_nc},
          {"nvidia_peermem", gpu.nvidia_peermem},
          {"peermem_module", gpu.peermem_module},
          {"driver", OrNull(gpu.nvidia_driver)},
          {"open_module", OrNull(gpu.nvidia_open_module)}};
}

Json LockedMemoryJson(const std::optional<facts::LockedMemory>& locked) {
  if (!locked) return Json();
  return locked->bytes ? Json(*locked->bytes) : Json("unlimited");
}

}  // namespace

std::string DetailsText(const facts::Node& node, const facts::NodeDetails& details, std::size_t column) {
  std::string links;
  for (const auto& function : details.functions) {
    const std::string owner = OwnersOf(function.pci, node);
    const std::string text = FunctionLine(function, owner);
    if (text != owner) links += Wrap("  " + function.pci.ToString(), column, text);
  }
  std::string ports;
  for (const auto& port : details.ports) {
    std::string text = port.physical_state;
    if (port.host_traffic_class) {
      Append(&text, "traffic class " + std::to_string(*port.host_traffic_class) + " set for the whole host");
    }
    ports += Wrap("  " + port.hca + ":" + std::to_string(port.port), column, text);
  }
  return (links.empty() ? "" : "PCI devices\n" + links) + (ports.empty() ? "" : "More of the ports\n" + ports) +
         MachineText(details, column);
}

std::string ConfFilesText(const std::vector<nccl::ConfFile>& files, std::size_t column) {
  std::string out = files.empty() ? "" : "NCCL's configuration files\n";
  for (const auto& file : files) {
    out += Wrap("", 2, file.path);
    for (const auto& s : file.settings)
      out += Wrap("    line " + std::to_string(s.line), column, s.name + "=" + s.value);
    for (const auto& r : file.remarks) {
      out += Wrap(r.line == 0 ? "    remark" : "    line " + std::to_string(r.line), column, r.what);
    }
  }
  return out;
}

Json DetailsJson(const facts::NodeDetails& details) {
  Json out;
  out["functions"] = Json::array();
  for (const auto& f : details.functions) {
    out["functions"].push_back({{"pci", f.pci.ToString()},
                                {"link", LinkStateJson(f.link.current)},
                                {"link_maximum", LinkStateJson(f.link.maximum)},
                                {"below_maximum", f.link.IsBelowMaximum()},
                                {"iommu", f.iommu ? Json(Text(*f.iommu)) : Json()},
                                {"relaxed_ordering", Text(f.relaxed_ordering)}});
  }
  out["bridges"] = Json::array();
  for (const auto& b : details.bridges) {
    out["bridges"].push_back({{"pci", b.pci.ToString()}, {"acs_redirect", Text(b.acs_redirect)}});
  }
  out["ports"] = Json::array();
  for (const auto& p : details.ports) {
    out["ports"].push_back({{"hca", p.hca},
                            {"port", p.port},
                            {"physical_state", p.physical_state},
                            {"host_traffic_class", OrNull(p.host_traffic_class)}});
  }
  out["gpu_direct"] = GpuDirectJson(details.gpu_direct);
  out["kernel"] = OrNull(details.kernel);
  out["iommu"] = OrNull(details.has_iommu);
  out["rdma_shared_between_namespaces"] = OrNull(details.rdma_shared_between_namespaces);
  out["locked_memory"] = LockedMemoryJson(details.locked_memory);
  if (details.libraries) {
    const auto& plugin = details.libraries->net_plugin;
    out["nccl"] = LibraryJson(details.libraries->nccl);
    out["net_plugin"] = {
        {"asked", plugin.asked}, {"disabled", plugin.is_disabled}, {"library", LibraryJson(plugin.library)}};
  }
  return out;
}

Json ConfFilesJson(const std::vector<nccl::ConfFile>& files) {
  Json out = Json::array();
  for (const auto& file : files) {
    Json settings = Json::array();
    for (const auto& s : file.settings) settings.push_back({{"name", s.name}, {"value", s.value}, {"line", s.line}});
    Json remarks = Json::array();
    for (const auto& r : file.remarks) remarks.push_back({{"line", r.line}, {"what", r.what}});
    out.push_back({{"path", file.path}, {"settings", std::move(settings)}, {"remarks", std::move(remarks)}});
  }
  return out;
}

}  // namespace nccl_tune::report
