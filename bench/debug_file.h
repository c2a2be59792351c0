// SPDX-License-Identifier: Apache-2.0
//
// The file of NCCL's log (--nccl-debug), before NCCL opens it: where that fails, NCCL goes on and writes to stdout,
// between the lines of the table.
#ifndef NCCL_TUNE_BENCH_DEBUG_FILE_H_
#define NCCL_TUNE_BENCH_DEBUG_FILE_H_

#include <string>

#include "base/result.h"

namespace nccl_tune::bench {

// What NCCL makes of NCCL_DEBUG_FILE: %h is the host's name up to its first dot, with - for / and %; %p the process id;
// %% one %; all else stays (src/debug.cc of NCCL 2.28). Pure.
std::string DebugFileName(const std::string& pattern, const std::string& host, long process_id);

// Whether this process may write `path`, an existing file or a new one, of which none is left. The Error names `host`.
base::Status CheckDebugFile(const std::string& path, const std::string& host);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_DEBUG_FILE_H_
