// SPDX-License-Identifier: Apache-2.0
#include "bench/adaptive.h"

#include <algorithm>
#include <cmath>

namespace nccl_tune::bench {
namespace {

constexpr double kTail = 0.025;
constexpr double kNormalQuantile = 1.959964;  // of 1 - kTail
constexpr std::size_t kExactUpTo = 1000;      // beyond, the normal approximation is as good and costs nothing
constexpr std::size_t kFirstBatch = 4;
constexpr double kSharingPart = 20;
constexpr std::size_t kLeastToDrop = 20;

// Element `rank`, from 1, of the sorted values. Reorders them.
double Pick(std::vector<double>* values, std::size_t rank) {
  const auto at = values->begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values->begin(), at, values->end());
  return *at;
}

// The rank, from 1, of the smallest element that `hundredths` % do not exceed.
std::size_t RankOf(std::size_t count, std::size_t hundredths) { return (count * hundredths + 99) / 100; }

double Median(std::vector<double>* values) {
  const std::size_t count = values->size();
  const double upper = Pick(values, count / 2 + 1);
  return count % 2 == 1 ? upper : (upper + Pick(values, count / 2)) / 2;
}

}  // namespace

std::size_t MedianIntervalRank(std::size_t samples) {
  const auto count = static_cast<double>(samples);
  if (samples > kExactUpTo) return static_cast<std::size_t>((count - kNormalQuantile * std::sqrt(count)) / 2);
  // P(B = k) from k = 0 on, as a logarithm: 2 to the power of -1000 is still a number, but not for long.
  double log_share = count * std::log(0.5);
  double below = 0;
  for (std::size_t k = 0; k < samples; ++k) {
    below += std::exp(log_share);
    if (below > kTail) return k;
    log_share += std::log((count - static_cast<double>(k)) / (static_cast<double>(k) + 1));
  }
  return 0;
}

void Adaptive::Add(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || samples_.size() >= limits_.most) return;
  samples_.push_back(seconds);
  sum_ += seconds;
}

std::size_t Adaptive::Dropped() const {
  if (samples_.size() < kLeastToDrop) return 0;
  const std::size_t half = samples_.size() / 2;
  std::vector<double> later(samples_.begin() + static_cast<std::ptrdiff_t>(half), samples_.end());
  const double slow = Pick(&later, RankOf(later.size(), 90));
  const auto end = samples_.begin() + static_cast<std::ptrdiff_t>(half);
  return static_cast<std::size_t>(std::find_if(samples_.begin(), end, [&](double s) { return s <= slow; }) -
                                  samples_.begin());
}

Spread Adaptive::Summary() const {
  Spread out;
  std::vector<double> values(samples_.begin() + static_cast<std::ptrdiff_t>(Dropped()), samples_.end());
  out.samples = values.size();
  if (values.empty()) return out;
  const std::size_t count = values.size();
  const std::size_t rank = MedianIntervalRank(count);
  out.median = Median(&values);
  out.p99 = Pick(&values, RankOf(count, 99));
  out.low = Pick(&values, std::max<std::size_t>(rank, 1));
  out.high = Pick(&values, count + 1 - std::max<std::size_t>(rank, 1));
  out.settled = rank > 0 && count >= limits_.least && out.high - out.low <= limits_.precision * out.median;
  return out;
}

std::uint64_t Adaptive::NextBatch(double elapsed, double sharing) const {
  const std::size_t have = samples_.size();
  if (have >= limits_.most || !(elapsed < limits_.seconds)) return 0;
  if (have == 0) return std::min(kFirstBatch, limits_.most);
  const Spread now = Summary();
  if (now.settled) return 0;
  // What the interval lacks: its width shrinks with the square root of the number of samples.
  const double width = now.median > 0 ? (now.high - now.low) / now.median / limits_.precision : 1;
  const double lack = static_cast<double>(now.samples) * (width * width - 1);
  double batch = std::clamp(lack, static_cast<double>(have) / 4, static_cast<double>(have));
  if (now.samples < limits_.least) batch = static_cast<double>(limits_.least - now.samples);
  if (now.median > 0) {
    if (sharing > 0) batch = std::max(batch, kSharingPart * sharing / now.median);
    // By the mean: slow calls take the time of many.
    const double mean = sum_ / static_cast<double>(have);
    batch = std::min(batch, (limits_.seconds - elapsed) / std::max(mean, now.median));
  }
  const auto room = static_cast<double>(limits_.most - have);
  return static_cast<std::uint64_t>(std::max(1.0, std::min(batch, room)));
}

}  // namespace nccl_tune::bench
