// SPDX-License-Identifier: Apache-2.0
#include "envplugin/deadline_tree.h"

namespace nccl_tune::envplugin {
namespace {

base::Error Late(std::string_view path) {
  return {.code = base::Code::kTimeout, .what = "not read: the deadline has passed", .where = std::string(path)};
}

}  // namespace

bool DeadlineTree::IsLate() const {
  late_ = late_ || is_late_();
  return late_;
}

base::Result<std::string> DeadlineTree::Read(std::string_view path, std::size_t limit) const {
  return IsLate() ? Late(path) : tree_.Read(path, limit);
}

base::Status DeadlineTree::ReadBlocks(std::string_view path, std::size_t limit,
                                      const std::function<bool(std::string_view)>& take) const {
  bool in_time = !IsLate();
  if (!in_time) return Late(path);
  NCCL_TUNE_RETURN_IF_ERROR(tree_.ReadBlocks(path, limit, [&](std::string_view piece) {
    in_time = !IsLate();
    return in_time && take(piece);
  }));
  if (!in_time) return Late(path);
  return base::Ok();
}

base::Result<std::string> DeadlineTree::ReadTrusted(std::string_view path, std::size_t limit) const {
  return IsLate() ? Late(path) : tree_.ReadTrusted(path, limit);
}

base::Result<std::vector<std::string>> DeadlineTree::List(std::string_view path) const {
  if (IsLate()) return Late(path);
  return tree_.List(path);
}

base::Result<std::string> DeadlineTree::Resolve(std::string_view path) const {
  return IsLate() ? Late(path) : tree_.Resolve(path);
}

facts::Openable DeadlineTree::CheckOpenable(std::string_view path) const {
  return IsLate() ? facts::Openable::kUnknown : tree_.CheckOpenable(path);
}

}  // namespace nccl_tune::envplugin
