// SPDX-License-Identifier: Apache-2.0
#include "hw/read_gpus.h"

#include <algorithm>
#include <string>

#include "base/parse_number.h"
#include "hw/read_attribute.h"
#include "hw/sysfs_text.h"

namespace nccl_tune::hw {
namespace {

// PCI class codes: 0x0300 VGA, 0x0302 3D controller, 0x0380 display controller (AMD Instinct MI100, MI200), 0x1200
// processing accelerator (MI300).
bool IsGpuClass(std::uint64_t code) {
  const std::uint64_t base_class = code >> 8;
  return base_class == 0x0300 || base_class == 0x0302 || base_class == 0x0380 || base_class == 0x1200;
}

std::optional<facts::GpuVendor> VendorOf(std::uint64_t id) {
  if (id == 0x10de) return facts::GpuVendor::kNvidia;
  if (id == 0x1002) return facts::GpuVendor::kAmd;
  return std::nullopt;
}

}  // namespace

std::vector<facts::Gpu> ReadGpus(const Tree& tree, std::vector<facts::Note>* notes) {
  std::vector<facts::Gpu> out;
  const std::string folder = "sys/bus/pci/devices";
  const auto names = tree.List(folder);
  if (!names.ok()) {
    if (names.error().code != base::Code::kNotFound) notes->push_back({.where = folder, .what = names.error().what});
    return out;
  }
  for (const auto& name : *names) {
    const std::string path = folder + "/" + name;
    const auto code = ReadParsed(tree, path + "/class", Absence::kNormal, base::ParseHexOrDecimal, notes);
    if (!code || !IsGpuClass(*code)) continue;
    const auto id = ReadParsed(tree, path + "/vendor", Absence::kNoted, base::ParseHexOrDecimal, notes);
    const auto vendor = id ? VendorOf(*id) : std::nullopt;
    const auto address = facts::ParsePciAddress(name);
    if (!vendor || !address.ok()) continue;
    facts::Gpu gpu;
    gpu.pci = *address;
    gpu.vendor = *vendor;
    const auto numa = ReadParsed(tree, path + "/numa_node", Absence::kNormal, base::ParseInt, notes);
    if (numa && *numa >= 0) gpu.numa_node = numa;
    const auto place = tree.Resolve(path);
    if (place.ok()) gpu.pci_path = PciFunctionsOf(*place);
    if (!gpu.pci_path.empty()) gpu.pci_path.pop_back();
    out.push_back(std::move(gpu));
  }
  std::sort(out.begin(), out.end(), [](const facts::Gpu& a, const facts::Gpu& b) { return a.pci < b.pci; });
  return out;
}

}  // namespace nccl_tune::hw
