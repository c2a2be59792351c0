// SPDX-License-Identifier: Apache-2.0
//
// A Tree that is a real directory: "/" on a live machine, or a tree laid out for `--root`.
#ifndef NCCL_TUNE_HW_DIRECTORY_TREE_H_
#define NCCL_TUNE_HW_DIRECTORY_TREE_H_

#include <array>
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
  base::Result<std::string> ReadTrusted(std::string_view path, std::size_t limit) const override;
  std::string FindClosed(std::string_view path) const override;
  base::Result<std::vector<std::string>> List(std::string_view path) const override;
  base::Result<std::string> Resolve(std::string_view path) const override;
  facts::Openable CheckOpenable(std::string_view path) const override;

 private:
  DirectoryTree(Descriptor root, std::string real_root, bool is_live)
      : root_(std::move(root)), real_root_(std::move(real_root)), is_live_(is_live) {}

  // A folder that was listed or looked into lately, kept open: walking a long sysfs path costs more than the read.
  struct Folder {
    std::string path;
    unsigned used = 0;       // when, by clock_; 0: never
    bool is_real = false;    // open, and no part of its path is a link
    bool has_links = false;  // below it; what lies there is opened from the root, so that no link leads outside
    Descriptor fd;
  };

  // No descriptor: errno says why.
  Descriptor OpenFromRoot(std::string_view path, int flags) const;
  // The same without following a link, from the open folder above it, or from the root where that is null.
  Descriptor OpenPlain(std::string_view path, int flags, Folder* above) const;
  base::Result<Descriptor> OpenFile(std::string_view path) const;
  // The link on the way to an absent `path` that leads nowhere, and its target: "/etc/a -> /b"; empty: there is none.
  std::string FindDangling(std::string_view path) const;
  // The nearest open folder that `path` lies below; null: none.
  Folder* FindAbove(std::string_view path) const;
  // The entry of the folder, known or new. It takes the place of the one unused for longest.
  Folder& Recall(std::string_view path) const;
  // False: errno says why.
  bool OpenFolder(Folder* folder, int flags) const;
  // For what a link and its target do not tell: a walk, and procfs for where it ended.
  base::Result<std::string> ResolveByKernel(std::string_view path) const;

  Descriptor root_;
  std::string real_root_;
  bool is_live_ = false;  // "/"
  // Reading a verbs device uses the class, its own folder, its ports, the GIDs of one, the function and the driver.
  mutable std::array<Folder, 8> folders_;
  mutable unsigned clock_ = 0;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_DIRECTORY_TREE_H_
