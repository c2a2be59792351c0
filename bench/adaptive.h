// SPDX-License-Identifier: Apache-2.0
//
// When enough has been measured: samples of one block (one size, one of in place or out of place) go in, batch by
// batch, and the size of the next batch comes out, 0 when it is over. Pure; one thread.
//
// All ranks must do the same number of calls, so one rank decides and the caller shares the number:
//
//   Adaptive adaptive(limits);                               // used where `decides` only
//   for (;;) {
//     const double asked = decides ? double(adaptive.NextBatch(elapsed, sharing)) : 0;
//     const auto batch = worker.Reduce(asked, Combine::kMax);   // the same on all ranks; takes `sharing` seconds
//     if (batch == 0) break;
//     ... `batch` timed calls; GatherGreatest(times), the greatest over the processes of each call: adaptive.Add(...)
//   }
//
// The interval is the distribution-free one of the median: the order statistics l and n + 1 - l, l the greatest with
// P(B < l) <= 2.5 % for B binomial (n, 1/2). Source: Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2;
// Hahn and Meeker, Statistical Intervals, section 5.2. It assumes samples that do not depend on each other.
#ifndef NCCL_TUNE_BENCH_ADAPTIVE_H_
#define NCCL_TUNE_BENCH_ADAPTIVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/results.h"

namespace nccl_tune::bench {

struct AdaptiveLimits {
  double seconds = 10;         // for one block, the sharing included
  double precision = 0.01;     // wanted width of the interval, in parts of the median
  std::size_t least = 30;      // samples before it may settle; fewer make a narrow interval by chance too often
  std::size_t most = 1 << 17;  // samples: 2 MiB of memory at most, and an interval of some 0.5 % of the samples
};

class Adaptive {
 public:
  explicit Adaptive(AdaptiveLimits limits) : limits_(limits) {}

  // Seconds of one call. What is no time (negative, infinite, NaN) is left out, as is what exceeds `most`.
  void Add(double seconds);

  // Calls to make before asking again; 0: enough, or time is up. `elapsed`: seconds since the block began. `sharing`:
  // seconds that it takes to ask and to tell all ranks; batches are long enough that this is a twentieth of the time.
  // They grow with the number of samples, so that all looks together cost O(n) and are few: each look is a chance to
  // stop by luck.
  std::uint64_t NextBatch(double elapsed, double sharing) const;

  // Over the samples that count; all 0 when there are none. The median of an even number is the mean of the middle
  // two, p99 the smallest sample that 99 % do not exceed.
  Spread Summary() const;

  // Leading samples that are left out as warm-up: each slower than nine tenths of the later half of all, up to half of
  // them and only with at least 20 samples. A steady series loses none or, by chance, one.
  std::size_t Dropped() const;

  std::size_t size() const { return samples_.size(); }

 private:
  AdaptiveLimits limits_;
  std::vector<double> samples_{};  // in order of arrival
  double sum_ = 0;
};

// l above, from 1; 0: fewer than 6 samples, which no interval of 95 % has.
std::size_t MedianIntervalRank(std::size_t samples);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_ADAPTIVE_H_
