// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_list.h"

#include <algorithm>

#include "base/parse_number.h"

namespace nccl_tune::launcher {
namespace {

using base::Error;
using base::Result;

Error Bad(std::string_view text) {
  return {.code = base::Code::kInvalidInput,
          .what = "not a list of ranks",
          .seen = base::Shortened(text),
          .expected = "ascending ranks such as 0-7,16"};
}

Result<std::uint32_t> ParseRank(std::string_view text, std::string_view whole) {
  const auto rank = base::ParseInteger<std::uint32_t>(text);
  if (!rank.ok() || (text.size() > 1 && text.starts_with('0'))) return Bad(whole);
  return *rank;
}

}  // namespace

Result<std::vector<RankRange>> ParseRankList(std::string_view text) {
  std::vector<RankRange> out;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto item = rest.substr(0, comma);
    const auto dash = item.find('-');
    NCCL_TUNE_ASSIGN_OR_RETURN(first, ParseRank(item.substr(0, dash), text));
    std::uint32_t last = first;
    if (dash != std::string_view::npos) {
      NCCL_TUNE_ASSIGN_OR_RETURN(end, ParseRank(item.substr(dash + 1), text));
      last = end;
      if (last <= first) return Bad(text);
    }
    if (!out.empty() && (first <= out.back().last || first - out.back().last == 1)) return Bad(text);
    out.push_back({.first = first, .last = last});
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::string> RankListOf(std::string_view gtids) {
  std::vector<std::uint32_t> ranks;
  for (std::string_view rest = gtids;;) {
    const auto comma = rest.find(',');
    NCCL_TUNE_ASSIGN_OR_RETURN(rank, ParseRank(rest.substr(0, comma), gtids));
    ranks.push_back(rank);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::sort(ranks.begin(), ranks.end());
  if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end()) return Bad(gtids);
  return CompactList(ranks);
}

std::uint64_t CountRanks(const std::vector<RankRange>& ranges) {
  std::uint64_t count = 0;
  for (const auto& range : ranges) count += std::uint64_t{range.last} - range.first + 1;
  return count;
}

std::string CompactList(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[first]);
    if (last > first) text += "-" + std::to_string(ascending[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace nccl_tune::launcher
