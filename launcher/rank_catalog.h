// SPDX-License-Identifier: Apache-2.0
//
// The variables that distributed programs read to find their rank and rank 0, as one table: nccl-launch sets them by
// it, docs/ranks.md is made from it. Pure.
#ifndef NCCL_TUNE_LAUNCHER_RANK_CATALOG_H_
#define NCCL_TUNE_LAUNCHER_RANK_CATALOG_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launcher/rank_facts.h"

namespace nccl_tune::launcher {

// Which other launcher sets the variable too, so that a nested step may have inherited it.
enum class OtherLauncher { kNone, kTorchrun, kMpirun };

// Where the ranks meet, as PROGRAM will read it: the user's text where the user has set it.
struct Master {
  std::string address;
  std::string port;
};

struct RankVariable {
  std::string_view name;
  OtherLauncher other;
  std::string_view meaning;
  std::string_view computed;  // how the value is found
  std::string_view read_by;
  std::string_view source;  // where one sees that it is read so
  // Nothing: this rank gets none; where one was inherited it is taken away.
  std::optional<std::string> (*value)(const RankFacts&, const Master&);
};

// In the order of docs/ranks.md.
std::span<const RankVariable> RankVariables();

// What programs read and nccl-launch does not set, with the reason.
struct LeftAlone {
  std::string_view variables;
  std::string_view why;
  std::string_view source;
};
std::span<const LeftAlone> RankVariablesLeftAlone();

// What a kind of program reads, and what its user has to do.
struct Reader {
  std::string_view program;
  std::string_view reads;
};
std::span<const Reader> RankReaders();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_CATALOG_H_
