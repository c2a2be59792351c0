// SPDX-License-Identifier: Apache-2.0
#include "launcher/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;

Error FileError(const std::string& path, const std::string& what) {
  const int reason = errno;
  const bool full = reason == ENOSPC || reason == EDQUOT;
  return Error{.code = Code::kUnreadable,
               .what = what + ": " + std::strerror(reason),
               .where = path,
               .hint = full ? "Make room there, or name another folder with --log-dir."
                            : "Name a folder that exists and that you may write to with --log-dir."};
}

}  // namespace

base::Result<LogFile> LogFile::Create(const std::string& folder, const std::string& name, const std::string& header) {
  constexpr mode_t kFolderMode = 0777;  // less the umask
  constexpr mode_t kFileMode = 0666;
  // Other ranks make the same folder at the same time.
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) return FileError(folder, "cannot be made");
  LogFile log;
  log.path_ = folder + "/" + name;
  log.descriptor_ =
      open(log.path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (log.descriptor_ < 0) return FileError(log.path_, "cannot be written");
  const std::string line = header + "\n";
  if (write(log.descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return FileError(log.path_, "cannot be written");
  }
  return log;
}

LogFile::~LogFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

LogFile::LogFile(LogFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

LogFile& LogFile::operator=(LogFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

std::optional<std::string> LogFile::Write(std::string_view bytes) {
  while (descriptor_ >= 0 && !bytes.empty()) {
    const ssize_t took = write(descriptor_, bytes.data(), bytes.size());
    if (took < 0 && errno == EINTR) continue;
    if (took < 0) {
      std::string why = path_ + ": " + std::strerror(errno) + ": the log of this rank ends here; the run goes on";
      close(std::exchange(descriptor_, -1));
      return why;
    }
    bytes.remove_prefix(static_cast<std::size_t>(took));
  }
  return std::nullopt;
}

std::string LogName(std::uint32_t rank, std::uint32_t size) {
  const std::size_t width = std::to_string(size > 0 ? size - 1 : 0).size();
  std::string number = std::to_string(rank);
  if (number.size() < width) number.insert(0, width - number.size(), '0');
  return "rank-" + number + ".log";
}

}  // namespace nccl_tune::launcher
