// SPDX-License-Identifier: Apache-2.0
#include "hw/directory_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace nccl_tune::hw {
namespace {

base::Error ErrnoError(int number, std::string_view path) {
  base::Code code = base::Code::kUnreadable;
  if (number == ENOENT || number == ENOTDIR) code = base::Code::kNotFound;
  if (number == EACCES || number == EPERM) code = base::Code::kForbidden;
  return {.code = code, .what = std::generic_category().message(number), .where = std::string(path)};
}

std::string_view FolderPart(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash);
}

std::string NamePart(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// Where an open descriptor lies, by procfs; empty when procfs is not there.
std::string PathOf(int fd) {
  std::string link(4096, '\0');
  const auto length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), link.data(), link.size());
  link.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return link;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

base::Result<std::unique_ptr<DirectoryTree>> DirectoryTree::Open(const std::string& root) {
  Descriptor fd(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    base::Error error = ErrnoError(errno, root);
    error.expected = "a folder with sys/ below it";
    return error;
  }
  std::string real = PathOf(fd.get());
  if (real == "/") real.clear();
  return std::unique_ptr<DirectoryTree>(new DirectoryTree(std::move(fd), std::move(real)));
}

base::Result<Descriptor> DirectoryTree::OpenAt(std::string_view path, int flags) const {
  const std::string name(path);
  struct open_how how {};
  how.flags = static_cast<__u64>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  auto fd = static_cast<int>(syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof how));
  // Before Linux 5.6. There only the live root is safe from links that lead outside, and that is the one in use.
  if (fd < 0 && errno == ENOSYS) fd = openat(root_.get(), name.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return ErrnoError(errno, path);
  return Descriptor(fd);
}

base::Result<int> DirectoryTree::FolderOf(std::string_view path) const {
  const std::string_view folder = FolderPart(path);
  if (!folder_.valid() || folder_path_ != folder) {
    auto opened = OpenAt(folder, O_PATH | O_DIRECTORY);
    if (!opened.ok()) {
      base::Error error = opened.error();
      error.where = path;
      return error;
    }
    folder_ = std::move(opened).value();
    folder_path_ = folder;
  }
  return folder_.get();
}

base::Result<std::string> DirectoryTree::Read(std::string_view path, std::size_t limit) const {
  // O_NONBLOCK: a FIFO in a file's place must not stop us.
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  NCCL_TUNE_ASSIGN_OR_RETURN(folder, FolderOf(path));
  Descriptor fd(openat(folder, NamePart(path).c_str(), kFlags | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == ELOOP) {  // a link: follow it from the root, so that it cannot leave
    NCCL_TUNE_ASSIGN_OR_RETURN(followed, OpenAt(path, kFlags));
    fd = std::move(followed);
  }
  if (!fd.valid()) return ErrnoError(errno, path);
  // An attribute is taken in one read: a second could return a newer value. Only longer files are read on, and those of
  // procfs to their end: it hands out whole lines, so that a short read there is no sign of the end.
  const bool is_attribute = limit <= kAttributeLimit;
  std::array<char, 4096> block;
  std::string out;
  while (true) {
    const auto got = read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError(errno, path);
    out.append(block.data(), static_cast<std::size_t>(got));
    if (out.size() > limit) {
      return base::Error{.code = base::Code::kUnreadable,
                         .what = "longer than " + std::to_string(limit) + " bytes",
                         .where = std::string(path)};
    }
    if (got == 0 || (is_attribute && static_cast<std::size_t>(got) < block.size())) return out;
  }
}

base::Status DirectoryTree::ReadBlocks(std::string_view path, std::size_t limit,
                                       const std::function<bool(std::string_view)>& take) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(fd, OpenAt(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return ErrnoError(errno, path);
  if (!S_ISREG(about.st_mode)) {
    return base::Error{.code = base::Code::kUnreadable, .what = "not a regular file", .where = std::string(path)};
  }
  std::vector<char> block(256 << 10);
  std::size_t done = 0;
  while (true) {
    const auto got = read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError(errno, path);
    if (got == 0) return base::Ok();
    done += static_cast<std::size_t>(got);
    if (done > limit) {
      return base::Error{.code = base::Code::kUnreadable,
                         .what = "longer than " + std::to_string(limit) + " bytes",
                         .where = std::string(path)};
    }
    if (!take(std::string_view(block.data(), static_cast<std::size_t>(got)))) return base::Ok();
  }
}

base::Result<std::vector<std::string>> DirectoryTree::List(std::string_view path) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(fd, OpenAt(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  DIR* stream = fdopendir(dup(fd.get()));
  if (stream == nullptr) return ErrnoError(errno, path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<std::string> DirectoryTree::Resolve(std::string_view path) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(fd, OpenAt(path, O_PATH));
  const std::string real = PathOf(fd.get());
  if (real == real_root_) return std::string();
  if (!real.starts_with(real_root_ + "/")) {
    return base::Error{.code = base::Code::kUnreadable, .what = "its place is unknown", .where = std::string(path)};
  }
  return real.substr(real_root_.size() + 1);
}

facts::Openable DirectoryTree::CheckOpenable(std::string_view path) const {
  const auto folder = FolderOf(path);
  if (!folder.ok()) return Exists("dev") ? facts::Openable::kMissing : facts::Openable::kUnknown;
  if (faccessat(*folder, NamePart(path).c_str(), R_OK | W_OK, AT_EACCESS) == 0) return facts::Openable::kYes;
  return errno == ENOENT ? facts::Openable::kMissing : facts::Openable::kNo;
}

}  // namespace nccl_tune::hw
