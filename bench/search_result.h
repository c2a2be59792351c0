// SPDX-License-Identifier: Apache-2.0
//
// What a search for slow nodes has measured and found, as plain values: stdout, JSON and CSV are made from it.
#ifndef NCCL_TUNE_BENCH_SEARCH_RESULT_H_
#define NCCL_TUNE_BENCH_SEARCH_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bisect.h"
#include "bench/options.h"
#include "bench/pair_matrix.h"
#include "bench/schedule.h"

namespace nccl_tune::bench {

struct SearchResult {
  struct Measured {
    std::uint64_t round = 0;  // from 1 on
    NodeGroup nodes{};
    double busbw = 0;  // GB/s, of the slowest process
  };
  struct SlowNode {
    std::uint64_t node = 0;
    double busbw = 0;              // GB/s: of its pairs the median, of a bisect's the best
    std::uint64_t slow_pairs = 0;  // of `pairs`; 0 of 0 by bisect
    std::uint64_t pairs = 0;
  };
  struct SlowLink {
    Pair pair{};
    double busbw = 0;
  };

  Mode mode = Mode::kPairs;
  std::string own_version{};  // "nccl-bench 0.1.0"
  std::string backend{};      // its label
  std::string collective{};
  std::string type{};
  std::string op{};
  std::vector<std::uint64_t> sizes{};  // bytes, as asked for or cut to the memory
  std::uint64_t ranks = 0;             // of all nodes
  std::vector<std::string> nodes{};    // host names
  double tolerance = 0.8;              // what reaches this part of what the good ones reach is good
  std::vector<Measured> measured{};
  std::vector<NodeGroup> wrong{};     // groups whose data was wrong, each once
  std::string error{};                // what ended it early
  std::vector<std::string> doubts{};  // what makes the numbers doubtful

  // Once it is over.
  bool is_complete = false;
  double reference = 0;  // GB/s of a good pair
  std::vector<SlowNode> slow_nodes{};
  std::vector<SlowLink> slow_links{};
  std::vector<BisectFindings::SlowGroup> slow_groups{};
  bool has_two_speeds = false;
  std::uint64_t rounds = 0;
};

// Whether anything is named.
bool IsSuspicious(const SearchResult& result);

void AddFindings(const PairFindings& findings, SearchResult& result);
void AddFindings(const BisectFindings& findings, SearchResult& result);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_RESULT_H_
