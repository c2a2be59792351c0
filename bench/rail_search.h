// SPDX-License-Identifier: Apache-2.0
//
// What --per-rail measures when: each rail once, and then once more what looks slow and what went by another rail. A
// measurement can be slow by chance, but not fast, so the best of a rail counts. Pure; plain values, one thread.
//
// The same in all processes of a step: each says its wish, process 0 alone knows the busbw, and all take the answer
// that is made of all wishes. So they measure the same rails in the same order.
#ifndef NCCL_TUNE_BENCH_RAIL_SEARCH_H_
#define NCCL_TUNE_BENCH_RAIL_SEARCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/rails.h"

namespace nccl_tune::bench {

// Rails to measure again, in ascending order.
struct RailWish {
  std::vector<std::size_t> astray{};  // their bytes took another rail (IsAstray): this measurement says nothing
  std::vector<std::size_t> slow{};
};

std::string WishToText(const RailWish& wish);
bool IsWishText(const std::string& text);
// Fails on what is not text of a wish for fewer than `count` rails.
base::Result<RailWish> WishFromText(const std::string& text, std::size_t count);
// By process 0: what went astray on any node, and what looks slow to process 0, the first of `texts`.
std::string AnswerTo(const std::vector<std::string>& texts);

class RailSearch {
 public:
  static constexpr std::size_t kMostTimes = 4;  // that a rail is measured, and that it may go astray

  // `rails` with name and rate. 0 < tolerance < 1, as in SlowRails.
  RailSearch(std::vector<RailResult> rails, double tolerance);

  // The rails to measure now, one after the other; empty: the search is over.
  const std::vector<std::size_t>& Next() const { return next_; }
  // What this process tells the others after that: `busbw` of each rail of Next(), in its order (0 where only process 0
  // knows it), and those that went astray here.
  RailWish Wish(const std::vector<double>& busbw, const std::vector<std::size_t>& astray) const;
  // The same busbw, and the answer to all wishes. An Error when a rail keeps going astray.
  base::Status Take(const std::vector<double>& busbw, const RailWish& answer);

  // With the best busbw of each rail and how often it was measured.
  const std::vector<RailResult>& results() const { return results_; }
  // Whether that busbw is of the rail's last measurement.
  bool IsLastBest(std::size_t rail) const { return is_last_best_[rail]; }

 private:
  double tolerance_;
  std::vector<RailResult> results_;
  std::vector<std::size_t> astray_;  // how often
  std::vector<bool> is_last_best_;
  std::vector<std::size_t> next_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RAIL_SEARCH_H_
