// SPDX-License-Identifier: Apache-2.0
//
// What the measurements of all pairs of nodes say: which nodes are slow, which links are, and a matrix to look at.
// Pure.
#ifndef NCCL_TUNE_BENCH_PAIR_MATRIX_H_
#define NCCL_TUNE_BENCH_PAIR_MATRIX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/schedule.h"

namespace nccl_tune::bench {

// Busbw in GB/s per pair; half of the matrix, as both directions are one measurement.
class PairMatrix {
 public:
  explicit PairMatrix(std::uint64_t nodes);

  std::uint64_t nodes() const { return nodes_; }
  // Nodes below nodes(), not equal, in either order. A pair that failed has 0; NaN and negative numbers become 0.
  void Set(std::uint64_t a, std::uint64_t b, double busbw);
  // Nothing for a pair that has not been measured, and for a node with itself.
  std::optional<double> At(std::uint64_t a, std::uint64_t b) const;

 private:
  std::uint64_t nodes_;
  std::vector<double> cells_;  // a < b; negative: not measured
};

struct PairFindings {
  struct SlowNode {
    std::uint64_t node = 0;
    double median = 0;             // GB/s over its pairs
    std::uint64_t slow_pairs = 0;  // of `pairs`
    std::uint64_t pairs = 0;       // with nodes not named before it
  };
  struct SlowLink {  // a slow pair of nodes that are not slow
    Pair pair{};
    double busbw = 0;
  };
  double tolerance = 0;
  double reference = 0;                          // GB/s of a good pair (schedule.h)
  std::vector<std::optional<double>> medians{};  // GB/s per node; nothing: it is in no measured pair
  std::vector<SlowNode> nodes{};                 // by their number
  std::vector<SlowLink> links{};
};

// A pair is slow below tolerance * reference, a node when more than half of its pairs with the other nodes are. Of two
// nodes nothing is named: there is nothing to compare.
PairFindings AnalysePairs(const PairMatrix& matrix, double tolerance);

// The matrix as text, slow pairs marked with a star; more than 32 nodes do not fit a screen: then a line for each of
// the worst nodes. `names` has one name per node.
std::vector<std::string> MatrixLines(const PairMatrix& matrix, const PairFindings& findings,
                                     const std::vector<std::string>& names);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_PAIR_MATRIX_H_
