// SPDX-License-Identifier: Apache-2.0
#include "hw/read_gpu_driver.h"

#include <string_view>

#include "base/parse_number.h"
#include "hw/pci_text.h"
#include "hw/read_attribute.h"

namespace nccl_tune::hw {
namespace {

constexpr const char* kFolder = "proc/driver/nvidia";

// The value of "Model: \t NVIDIA H200" among the lines of gpus/ADDRESS/information.
std::optional<std::string> FindModel(std::string_view text) {
  constexpr std::string_view kKey = "Model:";
  constexpr std::size_t kLongest = 64;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    if (line.starts_with(kKey)) {
      const auto value = base::Trim(line.substr(kKey.size()));
      return value.empty() ? std::nullopt : std::optional(base::Printable(value.substr(0, kLongest)));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

GpuDriver ReadGpuDriver(const Tree& tree, std::vector<facts::Note>* notes) {
  const std::string folder(kFolder);
  GpuDriver out;
  const auto driver = ReadParsed(tree, folder + "/version", Absence::kNormal, ParseNvidiaDriver, notes);
  if (!driver) return out;
  out.version = driver->version;
  const auto gpus = tree.List(folder + "/gpus");
  if (!gpus.ok() || gpus->empty()) return out;
  const auto text = ReadText(tree, folder + "/gpus/" + gpus->front() + "/information", Absence::kNormal, notes);
  if (text) out.model = FindModel(*text);
  return out;
}

}  // namespace nccl_tune::hw
