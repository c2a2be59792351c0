// SPDX-License-Identifier: Apache-2.0
#include "hw/user_file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "hw/directory_tree.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

Error Failed(int number, const std::string& path, const char* doing) {
  Code code = Code::kUnreadable;
  if (number == ENOENT || number == ENOTDIR) code = Code::kNotFound;
  if (number == EACCES || number == EPERM) code = Code::kForbidden;
  return {.code = code, .what = doing + std::generic_category().message(number), .where = path};
}

// Waits until a pipe has something to say, or has ended.
bool HasMore(int fd) {
  constexpr int kPatienceMs = 2000;
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&waited, 1, kPatienceMs) == 1;
}

Status WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto wrote = write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return Failed(errno, path, "cannot write: ");
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return base::Ok();
}

// The file that `path` leads to, which need not exist.
std::string Target(const std::string& path) {
  std::error_code none;
  const auto real = std::filesystem::canonical(path, none);
  return none ? path : real.string();
}

}  // namespace

Result<std::string> ReadUserFile(const std::string& path, std::size_t limit) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return Failed(errno, path, "");
  std::array<char, 65536> block;
  std::string out;
  while (true) {
    const auto got = read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      if (HasMore(fd.get())) continue;
      return Error{.code = Code::kTimeout, .what = "nothing came for two seconds", .where = path};
    }
    if (got < 0) return Failed(errno, path, "");
    if (got == 0) return out;
    out.append(block.data(), static_cast<std::size_t>(got));
    if (out.size() > limit) {
      return Error{.code = Code::kUnreadable, .what = "longer than " + std::to_string(limit) + " bytes", .where = path};
    }
  }
}

Status WriteUserFile(const std::string& path, std::string_view text) {
  const std::string target = Target(path);
  struct stat there {};
  if (lstat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Error{.code = Code::kForbidden,
                 .what = "not replaced: it is no regular file",
                 .where = path,
                 .hint = "Name a file, or - for standard output"};
  }
  // Beside it under a name of its own, so that nothing that is there is followed or overwritten.
  std::string beside = target + ".XXXXXX";
  const Descriptor fd(mkostemp(beside.data(), O_CLOEXEC));
  if (!fd.valid()) {
    Error error = Failed(errno, path, "cannot write: ");
    error.hint = "Name a file in a folder that you may write to";
    return error;
  }
  Status done = WriteAll(fd.get(), text, path);
  constexpr mode_t kReadable = 0644;
  if (done.ok() && (fchmod(fd.get(), kReadable) != 0 || rename(beside.c_str(), target.c_str()) != 0)) {
    done = Failed(errno, path, "cannot write: ");
  }
  if (!done.ok()) unlink(beside.c_str());
  return done;
}

std::string FindModeFault(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return "";
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others than its owner may write it: chmod go-w";
  if ((about.st_mode & S_IROTH) == 0) return "only some users may read it: chmod a+r";
  return "";
}

std::string FindClosedFolder(const std::string& path) {
  const auto tree = DirectoryTree::Open("/");
  std::error_code none;
  const auto absolute = std::filesystem::absolute(path, none);
  struct stat about {};
  if (!tree.ok() || none || stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return "";
  std::string closed = (*tree)->FindClosed(BelowRoot(absolute.string()));
  return closed.starts_with("only some users may enter") ? closed : "";
}

}  // namespace nccl_tune::hw
