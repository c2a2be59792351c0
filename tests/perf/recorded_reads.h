// SPDX-License-Identifier: Apache-2.0
//
// The floor under our own reading: the same files, taken in the same order by open, read and close alone.
#ifndef NCCL_TUNE_TESTS_PERF_RECORDED_READS_H_
#define NCCL_TUNE_TESTS_PERF_RECORDED_READS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::perf {

// Another tree that records each file that is asked for, in order, whether it is there or not.
class RecordingTree : public hw::Tree {
 public:
  explicit RecordingTree(const hw::Tree& tree) : tree_(tree) {}

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override;
  base::Result<std::vector<std::string>> List(std::string_view path) const override { return tree_.List(path); }
  base::Result<std::string> Resolve(std::string_view path) const override { return tree_.Resolve(path); }
  facts::Openable CheckOpenable(std::string_view path) const override { return tree_.CheckOpenable(path); }

  const std::vector<std::string>& paths() const { return paths_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const hw::Tree& tree_;
  mutable std::vector<std::string> paths_;
  mutable std::size_t bytes_ = 0;
};

// openat(root, path), one read, close, for each path. The bytes that came.
std::size_t ReadBare(int root, const std::vector<std::string>& paths);

}  // namespace nccl_tune::perf

#endif  // NCCL_TUNE_TESTS_PERF_RECORDED_READS_H_
