// SPDX-License-Identifier: Apache-2.0
//
// A tree that stops answering: what is read through it takes no longer than the deadline and one read. A process that
// is not ours must not be forked, and no thread may be left in it, so a single read that never returns is not bounded
// (NCCL itself reads the same files).
#ifndef NCCL_TUNE_ENVPLUGIN_DEADLINE_TREE_H_
#define NCCL_TUNE_ENVPLUGIN_DEADLINE_TREE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/tree.h"

namespace nccl_tune::envplugin {

class DeadlineTree : public hw::Tree {
 public:
  // `tree` must outlive this. Once `is_late` has said true every call fails with kTimeout, and it is not asked again.
  DeadlineTree(const hw::Tree& tree, std::function<bool()> is_late) : tree_(tree), is_late_(std::move(is_late)) {}

  // Whether it is late, by now.
  bool IsLate() const;

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override;
  base::Status ReadBlocks(std::string_view path, std::size_t limit,
                          const std::function<bool(std::string_view)>& take) const override;
  base::Result<std::string> ReadTrusted(std::string_view path, std::size_t limit) const override;
  base::Result<std::vector<std::string>> List(std::string_view path) const override;
  base::Result<std::string> Resolve(std::string_view path) const override;
  facts::Openable CheckOpenable(std::string_view path) const override;

 private:
  const hw::Tree& tree_;
  std::function<bool()> is_late_;
  mutable bool late_ = false;
};

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_DEADLINE_TREE_H_
