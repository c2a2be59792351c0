// SPDX-License-Identifier: Apache-2.0
//
// Ranks as short text: "0-7,16". Pure.
#ifndef NCCL_TUNE_LAUNCHER_RANK_LIST_H_
#define NCCL_TUNE_LAUNCHER_RANK_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::launcher {

// Both ends included.
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  bool operator==(const RankRange&) const = default;
};

// "0-7,16": ascending, apart from each other. Fails on all other text, also on empty text. Without `where`.
base::Result<std::vector<RankRange>> ParseRankList(std::string_view text);

// The same from SLURM_GTIDS, which lists each: "0,1,2,3". Any order, each once.
base::Result<std::string> RankListOf(std::string_view gtids);

// How many ranks the ranges hold.
std::uint64_t CountRanks(const std::vector<RankRange>& ranges);

// "0-3,6".
std::string CompactList(const std::vector<std::uint32_t>& ascending);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_RANK_LIST_H_
