// SPDX-License-Identifier: Apache-2.0
//
// Every flag in one table: reading, refusing, --help and docs/nccl-tests-compat.md come from it. Pure.
#ifndef NCCL_TUNE_BENCH_FLAG_TABLE_H_
#define NCCL_TUNE_BENCH_FLAG_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// What the command line says, before flags are held against each other.
struct Asked {
  Options options{};
  std::string output_file{};  // -J
  int per_iteration = 0;      // -I
  int skipped = 0;            // -K
  int device_ctas = 16;       // -V
  bool has_min_bytes = false;
  bool has_max_bytes = false;
  bool has_adaptive_seconds = false;
};

enum class FlagOrigin { kNcclTests, kOwn };

struct Flag {
  char letter;                // 0: has none
  std::string_view name;      // long form without dashes
  std::string_view value;     // its name in the help; empty: takes none
  std::string_view standard;  // default, as text
  std::string_view help;
  FlagOrigin origin;
  // Sets the value, or says why not; `where` of the error is set by the caller.
  base::Status (*set)(Asked& asked, const std::string& value);
};

std::span<const Flag> Flags();

// "-b, --minbytes".
std::string FlagNames(const Flag& flag);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_FLAG_TABLE_H_
