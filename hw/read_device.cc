// SPDX-License-Identifier: Apache-2.0
#include "hw/read_device.h"

#include "base/parse_number.h"
#include "hw/read_attribute.h"

namespace nccl_tune::hw {

const DeviceFacts& DeviceReader::Read(const Tree& tree, const std::string& path, std::vector<facts::Note>* notes) {
  const auto [place, is_new] = known_.try_emplace(path);
  DeviceFacts& out = place->second;
  if (!is_new) return out;
  const auto driver = tree.Resolve(path + "/driver");
  if (driver.ok()) out.driver = driver->substr(driver->rfind('/') + 1);
  const auto numa = ReadParsed(tree, path + "/numa_node", Absence::kNormal, base::ParseInt, notes);
  if (numa && *numa >= 0) out.numa_node = numa;
  return out;
}

}  // namespace nccl_tune::hw
