// SPDX-License-Identifier: Apache-2.0
#include "launcher/write_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;

Error Failed(std::string_view doing, const std::string& path, int number) {
  const Code code = number == ENOENT                      ? Code::kNotFound
                    : number == EACCES || number == EPERM ? Code::kForbidden
                                                          : Code::kUnreadable;
  return Error{.code = code,
               .what = std::string(doing) + ": " + std::generic_category().message(number),
               .where = path,
               .hint = "NCCL_TUNE_REPORT_DIR must name a folder that can be written"};
}

// 0, or the errno of what failed. Closes the descriptor.
int WriteAndClose(int fd, std::string_view text) {
  int number = 0;
  while (!text.empty() && number == 0) {
    const ssize_t done = write(fd, text.data(), text.size());
    if (done >= 0) {
      text.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno != EINTR) {
      number = errno;
    }
  }
  // A network file system may say only now that it is full.
  if (close(fd) != 0 && number == 0 && errno != EINTR) number = errno;
  return number;
}

// The file under its other name; what an ended process of the same id left there is removed first.
int Create(int folder, const std::string& name) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = openat(folder, name.c_str(), kFlags, 0644);
  if (fd >= 0 || errno != EEXIST || unlinkat(folder, name.c_str(), 0) != 0) return fd;
  return openat(folder, name.c_str(), kFlags, 0644);
}

base::Status WriteInto(int folder, const std::string& path, const std::string& name, std::string_view text) {
  const std::string other = "." + name + "." + std::to_string(getpid());
  const int fd = Create(folder, other);
  if (fd < 0) return Failed("cannot make the file", path, errno);
  int number = WriteAndClose(fd, text);
  if (number == 0 && renameat(folder, other.c_str(), folder, name.c_str()) != 0) number = errno;
  if (number == 0) return base::Ok();
  unlinkat(folder, other.c_str(), 0);
  return Failed("cannot write", path, number);
}

}  // namespace

base::Result<std::string> WriteReport(const std::string& folder, const std::string& name, std::string_view text) {
  const std::string path = folder + "/" + name;
  if (folder.empty() || name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return Error{.code = Code::kInvalidInput, .what = "not a folder and a file name", .where = path};
  }
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return Failed("cannot make the folder", folder, errno);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed("cannot open the folder", folder, errno);
  const auto written = WriteInto(fd, path, name, text);
  close(fd);
  if (!written.ok()) return written.error();
  return path;
}

}  // namespace nccl_tune::launcher
