// SPDX-License-Identifier: Apache-2.0
//
// What is worth showing of a node and what no rule decides on: kept apart from Node, so that the plugin does not pay
// for reading it. As there, a fact that could not be read is std::nullopt, and what went wrong is noted.
//
// Threads: plain values. Units: PCI speeds in GT/s per lane, memory in bytes. Sources: paths below /sys and /proc named
// beside each fact; the tests that NCCL itself makes for GPUDirect are by existence of the same files.
#ifndef NCCL_TUNE_CORE_FACTS_NODE_DETAILS_H_
#define NCCL_TUNE_CORE_FACTS_NODE_DETAILS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "core/facts/pci_address.h"

namespace nccl_tune::facts {

// One state of a PCI link. "Unknown" and 0, as virtual functions and root complex endpoints have them, are absent.
struct PciLinkState {
  std::optional<double> gigatransfers;  // GT/s of a lane: *_link_speed
  std::optional<int> width;             // lanes: *_link_width
};

struct PciLink {
  PciLinkState current;
  PciLinkState maximum;  // of the device; what it is plugged into may have less

  // Both are known and the link runs slower or narrower than the device can.
  bool IsBelowMaximum() const;
  // "PCIe 16 GT/s x8 of 32 GT/s x16", "PCIe 32 GT/s x16"; empty when nothing is known.
  std::string ToString() const;
};

enum class Tristate { kNo, kYes, kUnknown };

enum class IommuMode {
  kIdentity,    // addresses pass as they are: what GPUDirect wants on bare metal
  kTranslated,  // DMA, DMA-FQ, DMA-SQ
  kOther,       // another word
};

// A PCI function that is an RDMA device or a GPU.
struct PciDetails {
  PciAddress pci;
  PciLink link;
  std::optional<IommuMode> iommu;                  // iommu_group/type; absent also without a group
  Tristate relaxed_ordering = Tristate::kUnknown;  // device control bit; its place is readable for root only
};

// A bridge above such a function.
struct BridgeDetails {
  PciAddress pci;
  // Peer traffic is sent up to the root complex: request, completion redirect or upstream forwarding is on.
  Tristate acs_redirect = Tristate::kUnknown;  // ACS capability; readable for root only
};

struct PortDetails {
  std::string hca;
  int port = 0;
  std::string physical_state;             // phys_state of a port that is not ACTIVE: "Polling", "Disabled"
  std::optional<int> host_traffic_class;  // OFED's tc/<port>/traffic_class: overrides every class asked for
};

// Can the NICs register GPU memory? Which files are there, and no verdict: that depends on the NCCL version.
struct GpuDirect {
  bool nv_mem = false;                       // sys/kernel/mm/memory_peers/nv_mem/version
  bool nv_mem_nc = false;                    // sys/kernel/mm/memory_peers/nv_mem_nc/version
  bool nvidia_peermem = false;               // sys/kernel/mm/memory_peers/nvidia-peermem/version
  bool peermem_module = false;               // sys/module/nvidia_peermem/version: loaded, which alone proves nothing
  std::optional<std::string> nvidia_driver;  // proc/driver/nvidia/version: "570.86.15"
  std::optional<bool> nvidia_open_module;    // the same: open or proprietary kernel module
};

// The calling process's limit: a child of slurmd has the step's.
struct LockedMemory {
  std::optional<std::uint64_t> bytes;  // absent: unlimited
};

enum class FoundBy { kPreload, kNamed, kLibraryPath, kLoaderCache, kUsualFolder };

// A shared library that a job with a given environment would load.
struct FoundLibrary {
  std::string path;  // as found: "/usr/lib/x86_64-linux-gnu/libnccl.so.2"
  FoundBy found_by = FoundBy::kUsualFolder;
  std::optional<std::string> version;  // "2.28.9"
  bool version_from_name = false;      // else from the text in the file
};

struct NetPlugin {
  std::string asked;         // NCCL_NET_PLUGIN; empty when not set
  bool is_disabled = false;  // NCCL_NET_PLUGIN=none
  std::optional<FoundLibrary> library;
};

struct NcclLibraries {
  std::optional<FoundLibrary> nccl;
  NetPlugin net_plugin;
};

struct NodeDetails {
  std::vector<PciDetails> functions;   // RDMA devices and GPUs, by address
  std::vector<BridgeDetails> bridges;  // above them, by address
  std::vector<PortDetails> ports;      // in Node's order; those with something to say
  GpuDirect gpu_direct;
  std::optional<std::string> kernel;  // proc/sys/kernel/osrelease
  std::optional<bool> has_iommu;      // sys/class/iommu is not empty
  // sys/module/ib_core/parameters/netns_mode: shared: every container lists every device, usable or not.
  std::optional<bool> rdma_shared_between_namespaces;
  // Given by the caller, for the live machine only.
  std::optional<LockedMemory> locked_memory;
  std::optional<NcclLibraries> libraries;
  std::vector<Note> notes;
};

}  // namespace nccl_tune::facts

#endif  // NCCL_TUNE_CORE_FACTS_NODE_DETAILS_H_
