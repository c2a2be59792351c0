// SPDX-License-Identifier: Apache-2.0
#include "bench/debug_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bench/result_file.h"

namespace nccl_tune::bench {
namespace {

// 0, or errno. What is there already is not opened: a pipe would wait for its reader.
int TryToWrite(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) return EISDIR;
    return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno;
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno == EEXIST ? 0 : errno;  // another process was faster, or it is a link to what is not there
  close(fd);
  unlink(path.c_str());
  return 0;
}

}  // namespace

std::string DebugFileName(const std::string& pattern, const std::string& host, long process_id) {
  std::string short_host = host.substr(0, host.find('.'));
  std::ranges::replace_if(
      short_host, [](char letter) { return letter == '/' || letter == '%'; }, '-');
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'h') name += short_host;
    if (next == 'p') name += std::to_string(process_id);
    if (next == '%') name += '%';
    if (next == 'h' || next == 'p' || next == '%') {
      ++i;
    } else {
      name += pattern[i];
    }
  }
  return name;
}

base::Status CheckDebugFile(const std::string& path, const std::string& host) {
  const int failed = TryToWrite(path);
  if (failed == 0) return base::Ok();
  return FileError(failed, path, "NCCL's log (--nccl-debug) cannot be made on " + host);
}

}  // namespace nccl_tune::bench
