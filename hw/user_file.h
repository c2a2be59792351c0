// SPDX-License-Identifier: Apache-2.0
//
// Files that the user names on a command line: read whole and bounded, written whole or not at all.
#ifndef NCCL_TUNE_HW_USER_FILE_H_
#define NCCL_TUNE_HW_USER_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::hw {

// A file or a pipe, links followed. A pipe whose writer says nothing for two seconds is an error, as is more than
// `limit` bytes.
base::Result<std::string> ReadUserFile(const std::string& path, std::size_t limit);

// Puts `text` in the place of a regular file, or of none, links followed; a full disk leaves the old file as it was.
// Anything else there (a device, a pipe, a folder) is refused and left alone.
base::Status WriteUserFile(const std::string& path, std::string_view text);

// What of the permissions of a regular file keeps it from being taken when it is put where all users' jobs read it; empty:
// nothing. Says nothing of its owner: a draft is its author's.
std::string FindModeFault(const std::string& path);

// The folder above a file that only some users may enter, with the command that changes it; empty: none is.
std::string FindClosedFolder(const std::string& path);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_USER_FILE_H_
