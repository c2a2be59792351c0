// SPDX-License-Identifier: Apache-2.0
//
// What a device's folder says to all that hang on it: its verbs device and its interface ask for the same files, which
// are read once.
#ifndef NCCL_TUNE_HW_READ_DEVICE_H_
#define NCCL_TUNE_HW_READ_DEVICE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

struct DeviceFacts {
  std::optional<int> numa_node;  // absent also where the kernel says -1
  std::string driver;            // "mlx5_core"; empty when there is none
};

// One tree, one reader. What it returns lives as long as the reader.
class DeviceReader {
 public:
  // `path`: the device's own folder, with every link followed.
  const DeviceFacts& Read(const Tree& tree, const std::string& path, std::vector<facts::Note>* notes);

 private:
  std::map<std::string, DeviceFacts> known_;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_READ_DEVICE_H_
