// SPDX-License-Identifier: Apache-2.0
#include "bench/result_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/ascii.h"

namespace nccl_tune::bench {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr mode_t kMode = 0666;  // less the umask

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

std::string HintFor(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Make room there, or name a file elsewhere";
    case ENOENT:
    case ENOTDIR:
      return "Make its folder first, or name a file in one that exists";
    case EACCES:
    case EPERM:
    case EROFS:
      return "Name a file in a folder that you may write to";
    case ENAMETOOLONG:
      return "Name a shorter one: the part behind the last / has at most 255 bytes";
    default:
      return "Name a file elsewhere";
  }
}

// Errors carry errno; 0 is success.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto wrote = write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

int Replace(const std::string& path, const std::string& beside, int fd, std::string_view text) {
  const int failed = WriteAll(fd, text);
  if (failed != 0) return failed;
  // The permissions that the file was made with; gone meanwhile, it is made anew for its owner alone.
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode) && fchmod(fd, there.st_mode & kMode) != 0) {
    return errno;
  }
  return fsync(fd) == 0 && rename(beside.c_str(), path.c_str()) == 0 ? 0 : errno;
}

// A pattern for mkostemp in the same folder; the last part of a name has at most NAME_MAX bytes.
std::string Beside(const std::string& path) {
  constexpr std::string_view kPattern = ".XXXXXX";
  const std::size_t last = path.rfind('/') + 1;  // 0 where there is none
  return path.substr(0, std::min(path.size(), last + NAME_MAX - kPattern.size())) + std::string(kPattern);
}

bool IsNoRegularFile(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
}

}  // namespace

bool IsJsonName(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot != std::string_view::npos && base::EqualsIgnoringCase(path.substr(dot + 1), "json");
}

Error FileError(int reason, const std::string& path, const std::string& what) {
  Code code = Code::kUnreadable;
  if (reason == ENOENT || reason == ENOTDIR) code = Code::kNotFound;
  if (reason == EACCES || reason == EPERM || reason == EROFS) code = Code::kForbidden;
  return {.code = code,
          .what = what + ": " + std::generic_category().message(reason),
          .where = path,
          .hint = HintFor(reason)};
}

Result<ResultFile> ResultFile::Create(const std::string& path) {
  constexpr int kMostTries = 10000;
  if (path.empty()) {
    return Error{.code = Code::kInvalidInput, .what = "cannot be made: no name", .hint = "Name a file"};
  }
  if (path.back() == '/') {
    return Error{.code = Code::kInvalidInput,
                 .what = "cannot be made: this is the name of a folder",
                 .where = path,
                 .hint = "Name a file in it"};
  }
  if (IsNoRegularFile(path)) {
    return Error{.code = Code::kForbidden,
                 .what = "cannot be made: what is there is no regular file",
                 .where = path,
                 .hint = "Name a file"};
  }
  std::string name = path;
  for (int i = 0; i < kMostTries; ++i) {
    const Descriptor fd(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, kMode));
    if (fd.valid()) return ResultFile(name);
    if (errno != EEXIST) return FileError(errno, name, "cannot be made");
    name = path + "." + std::to_string(i);
  }
  return Error{.code = Code::kForbidden,
               .what = "cannot be made: it is there already, and so are all names up to " + name,
               .where = path,
               .hint = "Name another file"};
}

Status ResultFile::Update(std::string_view text) {
  last_ = Clock::now();
  updated_ = true;
  std::string beside = Beside(path_);
  const Descriptor fd(mkostemp(beside.data(), O_CLOEXEC));
  const int failed = fd.valid() ? Replace(path_, beside, fd.get(), text) : errno;
  if (fd.valid() && failed != 0) unlink(beside.c_str());
  took_ = Clock::now() - last_;
  if (failed != 0) {
    return FileError(failed, path_, has_content_ ? "cannot be written, its former content stays" : "cannot be written");
  }
  has_content_ = true;
  return base::Ok();
}

void ResultFile::Remove() const { unlink(path_.c_str()); }

Status ResultFile::UpdateIfDue(const std::function<std::string()>& make) {
  const auto begin = Clock::now();
  if (!IsDue(begin)) return base::Ok();
  Status done = Update(make());
  last_ = begin;
  took_ = Clock::now() - begin;
  return done;
}

bool ResultFile::IsDue(Clock::time_point now) const {
  constexpr auto kLeast = std::chrono::seconds(1);
  constexpr int kShare = 10;
  return !updated_ || now - last_ >= std::max<Clock::duration>(kLeast, kShare * took_);
}

}  // namespace nccl_tune::bench
