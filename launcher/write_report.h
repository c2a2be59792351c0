// SPDX-License-Identifier: Apache-2.0
//
// Writes a report into the folder that NCCL_TUNE_REPORT_DIR names: whole or not at all.
#ifndef NCCL_TUNE_LAUNCHER_WRITE_REPORT_H_
#define NCCL_TUNE_LAUNCHER_WRITE_REPORT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::launcher {

// Puts `text` into FOLDER/NAME (mode 0644 less the umask) and gives that path. The folder is made if only it is
// missing. The file is written under another name beside it and renamed: a reader sees the old or the new one, and a
// link at NAME is replaced, not followed. On an Error (which names the path) nothing is left but the folder. Blocks as
// long as the file system does. Any thread.
base::Result<std::string> WriteReport(const std::string& folder, const std::string& name, std::string_view text);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_WRITE_REPORT_H_
