// SPDX-License-Identifier: Apache-2.0
#include "bench/search_result.h"

namespace nccl_tune::bench {
namespace {

// More slow nodes than that are rather another kind of node.
constexpr std::uint64_t kFewestPerSlow = 4;

}  // namespace

bool IsSuspicious(const SearchResult& result) {
  return !result.slow_nodes.empty() || !result.slow_links.empty() || !result.slow_groups.empty() ||
         !result.wrong.empty();
}

void AddFindings(const PairFindings& findings, SearchResult& result) {
  result.reference = findings.reference;
  for (const auto& one : findings.nodes) {
    result.slow_nodes.push_back(
        {.node = one.node, .busbw = one.median, .slow_pairs = one.slow_pairs, .pairs = one.pairs});
  }
  for (const auto& one : findings.links) result.slow_links.push_back({.pair = one.pair, .busbw = one.busbw});
  result.has_two_speeds =
      result.slow_nodes.size() > 1 && kFewestPerSlow * result.slow_nodes.size() > result.nodes.size();
}

void AddFindings(const BisectFindings& findings, SearchResult& result) {
  result.reference = findings.reference;
  for (const auto& one : findings.nodes) result.slow_nodes.push_back({.node = one.node, .busbw = one.busbw});
  for (const auto& one : findings.links) result.slow_links.push_back({.pair = one.pair, .busbw = one.busbw});
  result.slow_groups = findings.groups;
  result.has_two_speeds = findings.two_speeds;
}

}  // namespace nccl_tune::bench
