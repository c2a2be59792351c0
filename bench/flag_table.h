// SPDX-License-Identifier: Apache-2.0
//
// Every flag in one table: reading, refusing and --help come from it. Pure; only options.cc needs it.
#ifndef NCCL_TUNE_BENCH_FLAG_TABLE_H_
#define NCCL_TUNE_BENCH_FLAG_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

struct Flag {
  char letter;                // 0: has none
  std::string_view name;      // long form without dashes
  std::string_view value;     // its name in the help; empty: takes none
  std::string_view standard;  // default, as text
  std::string_view help;
  // Sets the value, or says why not; `where` of the error is set by the caller. Null: not yet available.
  base::Status (*set)(Options& options, const std::string& value);
};

std::span<const Flag> Flags();

// "-b, --minbytes".
std::string FlagNames(const Flag& flag);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_FLAG_TABLE_H_
