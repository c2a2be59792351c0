// SPDX-License-Identifier: Apache-2.0
//
// The file that takes what one rank writes (--log-dir).
//
// Threads: used by one thread. Ownership: owns its descriptor, close-on-exec. Errors: opening is a Result; a write that
// fails later (a full disk) ends the log and nothing else, and is told once.
#ifndef NCCL_TUNE_LAUNCHER_LOG_FILE_H_
#define NCCL_TUNE_LAUNCHER_LOG_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::launcher {

class LogFile {
 public:
  // Creates `folder` if it is missing (one level) and the file in it, emptied when it is there, and writes `header` as
  // its first line: so a disk that is full already is known before anything runs.
  static base::Result<LogFile> Create(const std::string& folder, const std::string& name, const std::string& header);
  LogFile() = default;
  ~LogFile();
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;

  // Nothing, or once what went wrong.
  std::optional<std::string> Write(std::string_view bytes);

 private:
  int descriptor_ = -1;
  std::string path_{};
};

// "rank-0003.log": as wide as the last rank of `size` needs, so that names sort.
std::string LogName(std::uint32_t rank, std::uint32_t size);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_LOG_FILE_H_
