// SPDX-License-Identifier: Apache-2.0
//
// A Tree that is a real directory: "/" on a live machine, or a tree laid out for `--root`.
#ifndef NCCL_TUNE_HW_DIRECTORY_TREE_H_
#define NCCL_TUNE_HW_DIRECTORY_TREE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/tree.h"

namespace nccl_tune::hw {

// An open file descriptor that is closed with its owner; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class DirectoryTree : public Tree {
 public:
  // Fails when `root` is not a directory that can be opened.
  static base::Result<std::unique_ptr<DirectoryTree>> Open(const std::string& root);

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override;
  base::Status ReadBlocks(std::string_view path, std::size_t limit,
                          const std::function<bool(std::string_view)>& take) const override;
  base::Result<std::vector<std::string>> List(std::string_view path) const override;
  base::Result<std::string> Resolve(std::string_view path) const override;
  facts::Openable CheckOpenable(std::string_view path) const override;

 private:
  DirectoryTree(Descriptor root, std::string real_root) : root_(std::move(root)), real_root_(std::move(real_root)) {}

  base::Result<Descriptor> OpenAt(std::string_view path, int flags) const;
  // The folder of `path`, kept open for the next call: readers take many files of one folder in a row, and walking a
  // long sysfs path costs more than the read.
  base::Result<int> FolderOf(std::string_view path) const;

  Descriptor root_;
  std::string real_root_;
  mutable std::string folder_path_;
  mutable Descriptor folder_;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_DIRECTORY_TREE_H_
