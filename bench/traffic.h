// SPDX-License-Identifier: Apache-2.0
//
// Who sends how much to whom in an alltoallv: nccl-tests' generated pattern, weighted by the distance between the
// ranks, or a matrix from a file. Pure.
#ifndef NCCL_TUNE_BENCH_TRAFFIC_H_
#define NCCL_TUNE_BENCH_TRAFFIC_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::bench {

class Traffic {
 public:
  // Generated. `spread` from 0 (equal parts) to 1 (by distance alone), as NCCL_TESTS_ALLTOALLV_SPREAD.
  explicit Traffic(double spread = 1.0) : spread_(spread) {}

  // A square matrix of numbers >= 0 in blank-separated columns, one row a line; cell (i, j) is what rank i sends to
  // rank j, in bytes, times `scale`. Each is cut to 16 bytes. `name` is the file's, for the errors.
  static base::Result<Traffic> FromMatrix(std::string_view text, std::string_view name, double scale);

  bool is_matrix() const { return side_ != 0; }
  std::uint64_t side() const { return side_; }  // of the matrix: the most ranks that it serves
  double spread() const { return spread_; }
  double scale() const { return scale_; }
  // Of the matrix, or of the spread: the same for the same traffic.
  std::uint64_t digest() const;

  // Bytes from rank `from` to rank `to`. `total` is what a rank sends altogether; a matrix does not ask for it.
  std::uint64_t Bytes(std::uint64_t from, std::uint64_t to, std::uint64_t ranks, std::uint64_t total) const;

  // The most elements of `type_bytes` that a rank sends and that one receives.
  struct Most {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  Most MostElements(std::uint64_t type_bytes, std::uint64_t ranks, std::uint64_t total) const;

 private:
  double spread_ = 1.0;
  double scale_ = 1.0;
  std::uint64_t side_ = 0;
  std::vector<std::uint64_t> cells_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_TRAFFIC_H_
