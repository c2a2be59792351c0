// SPDX-License-Identifier: Apache-2.0
//
// All pairs of nodes in rounds, each node in one pair at a time, and then the slow pairs once more: a measurement can
// be slow by chance, but not fast. Pure; plain values, one thread.
#ifndef NCCL_TUNE_BENCH_PAIR_SEARCH_H_
#define NCCL_TUNE_BENCH_PAIR_SEARCH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "bench/bisect.h"
#include "bench/pair_matrix.h"
#include "bench/schedule.h"

namespace nccl_tune::bench {

class PairSearch {
 public:
  // 0 < tolerance < 1, as in pair_matrix.h.
  PairSearch(std::uint64_t nodes, double tolerance);

  // The pairs to measure now; empty: the search is over.
  const std::vector<NodeGroup>& Next() const { return next_; }
  // Busbw in GB/s of each pair of Next(), in its order; 0 or NaN when it could not be measured.
  void Take(const std::vector<double>& busbw);

  std::uint64_t rounds() const { return round_; }       // measured
  const PairMatrix& matrix() const { return matrix_; }  // the best measurement of each pair
  PairFindings Findings() const { return AnalysePairs(matrix_, tolerance_); }

 private:
  void Propose();
  void ProposeAgain(bool only_links);

  std::uint64_t nodes_;
  double tolerance_;
  PairMatrix matrix_;
  std::uint64_t round_ = 0;
  std::map<Pair, std::uint64_t> repeats_{};
  std::vector<NodeGroup> next_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PAIR_SEARCH_H_
