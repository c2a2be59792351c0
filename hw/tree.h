// SPDX-License-Identifier: Apache-2.0
//
// The one seam to the operating system: a tree of files below a root. A real directory, or a capture in memory, so that
// every reader above it runs the same on a machine that nobody has at hand.
//
// Paths are relative to the root, without leading slash: "sys/class/net/eth0/mtu". Links are followed and never leave
// the root. Threads: one tree, one thread.
#ifndef NCCL_TUNE_HW_TREE_H_
#define NCCL_TUNE_HW_TREE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"

namespace nccl_tune::hw {

// An absolute path as a tree takes it.
inline std::string_view BelowRoot(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

class Tree {
 public:
  static constexpr std::size_t kAttributeLimit = 64 << 10;

  virtual ~Tree() = default;

  // The file's bytes. Absent (kNotFound), forbidden (kForbidden) and failing to read, blocking or longer than `limit`
  // (kUnreadable) are three answers; the caller decides what each costs.
  virtual base::Result<std::string> Read(std::string_view path, std::size_t limit) const = 0;
  base::Result<std::string> Read(std::string_view path) const { return Read(path, kAttributeLimit); }

  // The same in pieces, for a file too long to hold: hands each to `take` until that says false. A piece may be any
  // length but empty. Only a regular file is read.
  virtual base::Status ReadBlocks(std::string_view path, std::size_t limit,
                                  const std::function<bool(std::string_view)>& take) const {
    NCCL_TUNE_ASSIGN_OR_RETURN(whole, Read(path, limit));
    if (!whole.empty()) take(whole);
    return base::Ok();
  }

  // A file that administrators write for all users. Only a regular file is read; on the live machine only one that
  // nobody but root, or the user that we are, can have written (else kInvalidInput). In a directory a link that leads
  // nowhere is kUnreadable: somebody meant a file to be there.
  virtual base::Result<std::string> ReadTrusted(std::string_view path, std::size_t limit) const {
    return Read(path, limit);
  }

  // What by the mode bits keeps some users of the machine from reading the file, with the command that changes it;
  // empty: nothing that is known (a capture has no such bits).
  virtual std::string FindClosed(std::string_view /*path*/) const { return ""; }

  // Names in a folder, sorted by bytes.
  virtual base::Result<std::vector<std::string>> List(std::string_view path) const = 0;

  // The path with every link followed, relative to the root.
  virtual base::Result<std::string> Resolve(std::string_view path) const = 0;

  // Whether the job's user could open the device node for reading and writing. Never opens it.
  virtual facts::Openable CheckOpenable(std::string_view path) const = 0;

  bool Exists(std::string_view path) const { return Resolve(path).ok(); }
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_TREE_H_
