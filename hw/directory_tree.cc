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

int OpenAt2(int folder, const std::string& path, int flags, __u64 resolve) {
  struct open_how how {};
  how.flags = static_cast<__u64>(flags) | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

base::Error LongerThan(std::size_t limit, std::string_view path) {
  return {.code = base::Code::kUnreadable,
          .what = "longer than " + std::to_string(limit) + " bytes",
          .where = std::string(path)};
}

base::Error NotRegular(std::string_view path) {
  return {.code = base::Code::kUnreadable, .what = "not a regular file", .where = std::string(path)};
}

// Hands a file's bytes to `take` until that says false.
base::Status ReadPieces(int fd, std::string_view path, std::size_t limit,
                        const std::function<bool(std::string_view)>& take) {
  std::vector<char> block(256 << 10);
  std::size_t done = 0;
  while (true) {
    const auto got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError(errno, path);
    if (got == 0) return base::Ok();
    done += static_cast<std::size_t>(got);
    if (done > limit) return LongerThan(limit, path);
    if (!take(std::string_view(block.data(), static_cast<std::size_t>(got)))) return base::Ok();
  }
}

bool IsForeign(const struct stat& about) { return about.st_uid != 0 && about.st_uid != geteuid(); }

bool OthersMayWrite(const struct stat& about) { return (about.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// Whether nobody but root and the user that we are can have written it.
base::Status CheckWriters(const struct stat& about, std::string_view path) {
  base::Error error{.code = base::Code::kInvalidInput, .where = std::string(path)};
  if (IsForeign(about)) {
    error.what = "owned by another user than root";
    error.seen = "uid " + std::to_string(about.st_uid);
    error.hint = "chown root it.";
    return error;
  }
  if (!OthersMayWrite(about)) return base::Ok();
  error.what = "others than its owner may write it";
  error.hint = "chmod go-w it.";
  return error;
}

// Whether nobody but root and the user that we are can have put another file in its place. What cannot be seen is no
// fault: the folder's name comes from /proc.
base::Status CheckFolder(int fd, std::string_view path) {
  std::array<char, 4096> real;
  const auto length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), real.data(), real.size());
  if (length <= 0) return base::Ok();
  const std::string file(real.data(), static_cast<std::size_t>(length));
  const std::string folder = file.substr(0, std::max<std::size_t>(file.rfind('/') + 1, 1));
  struct stat about {};
  if (!file.starts_with('/') || stat(folder.c_str(), &about) != 0) return base::Ok();
  base::Error error{.code = base::Code::kInvalidInput, .where = std::string(path)};
  if (IsForeign(about)) {
    error.what = "in a folder that another user than root owns";
    error.seen = folder + " of uid " + std::to_string(about.st_uid);
    error.hint = "chown root it.";
    return error;
  }
  if (!OthersMayWrite(about) || (about.st_mode & S_ISVTX) != 0) return base::Ok();
  error.what = "others may put another file in its place";
  error.seen = folder;
  error.hint = "chmod go-w that folder.";
  return error;
}

// Whether opening without links failed for their sake, so that following them can say more.
bool LinksMatter(int number) { return number == ELOOP || number == ENOSYS; }

// `target` as seen from `folder`, both without a link on the way: what "." and ".." say is done by text.
std::string Join(std::string_view folder, std::string_view target) {
  std::string out;
  const auto append = [&](std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        out.resize(out.find('/') == std::string::npos ? 0 : out.rfind('/'));
      } else {
        out.append(out.empty() ? "" : "/").append(part);
      }
    }
  };
  if (!target.starts_with('/')) append(folder);
  append(target);
  return out;
}

// Where an open descriptor lies, by procfs; empty when procfs is not there.
std::string PathOf(int fd) {
  std::array<char, 4096> link;
  const auto length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), link.data(), link.size());
  return {link.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
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
  const bool is_live = real == "/";
  if (is_live) real.clear();
  return std::unique_ptr<DirectoryTree>(new DirectoryTree(std::move(fd), std::move(real), is_live));
}

Descriptor DirectoryTree::OpenFromRoot(std::string_view path, int flags) const {
  const std::string name(path);
  // Nothing leads outside the live root, and the kernel need not look after each walk whether it did.
  int fd = -1;
  if (!is_live_) fd = OpenAt2(root_.get(), name, flags, RESOLVE_IN_ROOT);
  // Before Linux 5.6 a tree is taken as one without such links.
  if (is_live_ || (fd < 0 && errno == ENOSYS)) fd = openat(root_.get(), name.c_str(), flags | O_CLOEXEC);
  return Descriptor(fd);
}

DirectoryTree::Folder* DirectoryTree::FindAbove(std::string_view path) const {
  Folder* nearest = nullptr;
  for (auto& folder : folders_) {
    const std::size_t size = folder.path.size();
    if (!folder.is_real || folder.has_links || path.size() <= size || path[size] != '/') continue;
    if ((nearest == nullptr || size > nearest->path.size()) && path.starts_with(folder.path)) nearest = &folder;
  }
  return nearest;
}

Descriptor DirectoryTree::OpenPlain(std::string_view path, int flags, Folder* above) const {
  const std::string rest(above == nullptr ? path : path.substr(above->path.size() + 1));
  if (rest.starts_with('/') || rest.find("..") != std::string::npos) {  // could lead outside
    errno = ELOOP;
    return Descriptor();
  }
  const int start = above == nullptr ? root_.get() : above->fd.get();
  Descriptor fd(OpenAt2(start, rest, flags, RESOLVE_NO_SYMLINKS));
  if (above == nullptr) return fd;
  above->used = ++clock_;
  if (!fd.valid() && errno == ELOOP) above->has_links = true;
  return fd;
}

DirectoryTree::Folder& DirectoryTree::Recall(std::string_view path) const {
  Folder* oldest = folders_.data();
  for (auto& folder : folders_) {
    if (folder.path == path) {
      folder.used = ++clock_;
      return folder;
    }
    if (folder.used < oldest->used) oldest = &folder;
  }
  *oldest = Folder{};
  oldest->path = path;
  oldest->used = ++clock_;
  return *oldest;
}

bool DirectoryTree::OpenFolder(Folder* folder, int flags) const {
  folder->fd = OpenPlain(folder->path, flags, FindAbove(folder->path));
  folder->is_real = folder->fd.valid();
  if (!folder->is_real && LinksMatter(errno)) folder->fd = OpenFromRoot(folder->path, flags);
  if (!folder->fd.valid()) folder->used = 0;  // the next one takes its place
  return folder->fd.valid();
}

base::Result<Descriptor> DirectoryTree::OpenFile(std::string_view path) const {
  // O_NONBLOCK: a FIFO in a file's place must not stop us.
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  Folder* above = FindAbove(path);
  if (above != nullptr) {
    Descriptor fd = OpenPlain(path, kFlags, above);
    if (fd.valid()) return fd;
    if (!LinksMatter(errno)) return ErrnoError(errno, path);
  }
  Descriptor fd = OpenFromRoot(path, kFlags);
  if (!fd.valid()) return ErrnoError(errno, path);
  return fd;
}

base::Result<std::string> DirectoryTree::Read(std::string_view path, std::size_t limit) const {
  NCCL_TUNE_ASSIGN_OR_RETURN(fd, OpenFile(path));
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
    if (out.size() > limit) return LongerThan(limit, path);
    if (got == 0 || (is_attribute && static_cast<std::size_t>(got) < block.size())) return out;
  }
}

base::Status DirectoryTree::ReadBlocks(std::string_view path, std::size_t limit,
                                       const std::function<bool(std::string_view)>& take) const {
  const Descriptor fd = OpenFromRoot(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd.valid()) return ErrnoError(errno, path);
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return ErrnoError(errno, path);
  if (!S_ISREG(about.st_mode)) return NotRegular(path);
  return ReadPieces(fd.get(), path, limit, take);
}

base::Result<std::string> DirectoryTree::ReadTrusted(std::string_view path, std::size_t limit) const {
  const Descriptor fd = OpenFromRoot(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd.valid()) {
    base::Error error = ErrnoError(errno, path);
    std::string dangling = error.code == base::Code::kNotFound ? FindDangling(path) : "";
    if (dangling.empty()) return error;
    return base::Error{.code = base::Code::kUnreadable,
                       .what = "a link that leads nowhere",
                       .where = std::string(path),
                       .seen = std::move(dangling),
                       .hint = "Remove the link, or put the file where it leads."};
  }
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return ErrnoError(errno, path);
  if (!S_ISREG(about.st_mode)) return NotRegular(path);
  if (is_live_) {
    NCCL_TUNE_RETURN_IF_ERROR(CheckWriters(about, path));
    NCCL_TUNE_RETURN_IF_ERROR(CheckFolder(fd.get(), path));
  }
  std::string out;
  NCCL_TUNE_RETURN_IF_ERROR(ReadPieces(fd.get(), path, limit, [&](std::string_view piece) {
    out += piece;
    return true;
  }));
  return out;
}

std::string DirectoryTree::FindDangling(std::string_view path) const {
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = path.find('/', end + 1);
    const std::string_view part = path.substr(0, end);
    const Descriptor folder = OpenFromRoot(FolderPart(part), O_PATH | O_DIRECTORY);
    if (!folder.valid()) return "";
    std::array<char, 4096> link;
    const auto length = readlinkat(folder.get(), NamePart(part).c_str(), link.data(), link.size());
    if (length < 0 || OpenFromRoot(part, O_PATH).valid()) continue;
    return "/" + std::string(part) + " -> " + std::string(link.data(), static_cast<std::size_t>(length));
  }
  return "";
}

std::string DirectoryTree::FindClosed(std::string_view path) const {
  // As written, and with the links followed: users walk through the folders of both.
  const auto real = Resolve(path);
  for (const std::string& way : {std::string(path), real.value_or(std::string(path))}) {
    for (std::size_t end = 0; end != std::string::npos;) {
      end = way.find('/', end + 1);
      const std::string part = way.substr(0, end);
      const Descriptor fd = OpenFromRoot(part, O_PATH);
      struct stat about {};
      if (!fd.valid() || fstat(fd.get(), &about) != 0) return "";
      const std::string shown = "/" + part;
      if (S_ISDIR(about.st_mode) && (about.st_mode & S_IXOTH) == 0)
        return "only some users may enter the folder " + shown + ": chmod a+x " + shown;
      if (S_ISREG(about.st_mode) && (about.st_mode & S_IROTH) == 0)
        return "only some users may read it: chmod a+r " + shown;
    }
  }
  return "";
}

base::Result<std::vector<std::string>> DirectoryTree::List(std::string_view path) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
  Folder& folder = Recall(path);
  if (folder.fd.valid()) {
    Descriptor listable(openat(folder.fd.get(), ".", kFlags | O_CLOEXEC));
    if (!listable.valid()) return ErrnoError(errno, path);
    folder.fd = std::move(listable);
  } else if (!OpenFolder(&folder, kFlags)) {
    return ErrnoError(errno, path);
  }
  std::vector<std::string> names;
  // Not by opendir, which makes five calls more and closes the folder, whose files are what is asked for next.
  alignas(dirent64) std::array<char, 8192> block;
  while (true) {
    const auto got = syscall(SYS_getdents64, folder.fd.get(), block.data(), block.size());
    if (got < 0) return ErrnoError(errno, path);
    if (got == 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") names.emplace_back(name);
      at += entry->d_reclen;
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<std::string> DirectoryTree::ResolveByKernel(std::string_view path) const {
  const Descriptor fd = OpenFromRoot(path, O_PATH);
  if (!fd.valid()) return ErrnoError(errno, path);
  const std::string real = PathOf(fd.get());
  if (real == real_root_) return std::string();
  if (!real.starts_with(real_root_ + "/")) {
    return base::Error{.code = base::Code::kUnreadable, .what = "its place is unknown", .where = std::string(path)};
  }
  return real.substr(real_root_.size() + 1);
}

base::Result<std::string> DirectoryTree::Resolve(std::string_view path) const {
  const std::string name = NamePart(path);
  if (name.empty()) return ResolveByKernel(path);
  Folder& folder = Recall(FolderPart(path));
  if (!folder.fd.valid() && !OpenFolder(&folder, O_PATH | O_DIRECTORY)) return ErrnoError(errno, path);
  std::array<char, 4096> link;
  const auto length = readlinkat(folder.fd.get(), name.c_str(), link.data(), link.size());
  if (length < 0 && errno != EINVAL) return ErrnoError(errno, path);
  if (!folder.is_real) return ResolveByKernel(path);
  if (length < 0) return Join(folder.path, name);  // no link
  // Links of sysfs lead to places without a link on the way; where that is so, the place is known.
  const std::string target = Join(folder.path, std::string_view(link.data(), static_cast<std::size_t>(length)));
  if (target.empty()) return target;
  Folder& place = Recall(target);
  if (!place.fd.valid()) {
    place.fd = OpenPlain(target, O_PATH, FindAbove(target));
    place.is_real = place.fd.valid();
    if (!place.is_real && !LinksMatter(errno)) return ErrnoError(errno, path);
  }
  return place.is_real ? base::Result<std::string>(target) : ResolveByKernel(path);
}

facts::Openable DirectoryTree::CheckOpenable(std::string_view path) const {
  Folder& folder = Recall(FolderPart(path));
  if (!folder.fd.valid() && !OpenFolder(&folder, O_PATH | O_DIRECTORY)) {
    return Exists("dev") ? facts::Openable::kMissing : facts::Openable::kUnknown;
  }
  if (faccessat(folder.fd.get(), NamePart(path).c_str(), R_OK | W_OK, AT_EACCESS) == 0) return facts::Openable::kYes;
  return errno == ENOENT ? facts::Openable::kMissing : facts::Openable::kNo;
}

}  // namespace nccl_tune::hw
