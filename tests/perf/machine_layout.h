// SPDX-License-Identifier: Apache-2.0
//
// Lays a machine out as a real directory tree, as `nccl-tune --root` takes it: RoCE rails with GID tables and
// interfaces, GPUs beside them, a management interface, and the other PCI functions that every server has.
//
// For benchmarks: the folder is on tmpfs where there is one, so that what is measured is us and not a disk.
#ifndef NCCL_TUNE_TESTS_PERF_MACHINE_LAYOUT_H_
#define NCCL_TUNE_TESTS_PERF_MACHINE_LAYOUT_H_

#include <string>
#include <utility>

#include "base/result.h"

namespace nccl_tune::perf {

struct Shape {
  int hcas = 0;         // 1 to 60, one active port each
  int gid_entries = 0;  // of each port, 4 to 256
  int filled = 0;       // how many of them are not zero, at least 4
};

// A new folder, removed with its content when its owner goes.
class TemporaryFolder {
 public:
  static base::Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Fails on the first file that cannot be written.
base::Status LayOutMachine(const std::string& root, const Shape& shape);

}  // namespace nccl_tune::perf

#endif  // NCCL_TUNE_TESTS_PERF_MACHINE_LAYOUT_H_
