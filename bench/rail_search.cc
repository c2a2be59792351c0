// SPDX-License-Identifier: Apache-2.0
#include "bench/rail_search.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Result;
using base::Status;

// "astray 0 2 slow 1"
constexpr const char* kAstray = "astray";
constexpr const char* kSlow = "slow";

bool Contains(const std::vector<std::size_t>& rails, std::size_t rail) {
  return std::ranges::find(rails, rail) != rails.end();
}

void Add(RailResult& result, double busbw) {
  if (busbw > result.busbw) result.busbw = busbw;  // false for NaN
  ++result.times;
}

}  // namespace

std::string WishToText(const RailWish& wish) {
  std::string text = kAstray;
  for (const std::size_t rail : wish.astray) text += " " + std::to_string(rail);
  text += std::string(" ") + kSlow;
  for (const std::size_t rail : wish.slow) text += " " + std::to_string(rail);
  return text;
}

bool IsWishText(const std::string& text) { return text.starts_with(std::string(kAstray) + " "); }

Result<RailWish> WishFromText(const std::string& text, std::size_t count) {
  RailWish wish;
  std::istringstream words(text);
  std::string word;
  words >> word;
  bool is_right = word == kAstray;
  bool is_slow = false;
  while (is_right && words >> word) {
    if (!is_slow && word == kSlow) {
      is_slow = true;
      continue;
    }
    const auto rail = base::ParseInteger<std::size_t>(word);
    is_right = rail.ok() && *rail < count;
    if (is_right) (is_slow ? wish.slow : wish.astray).push_back(*rail);
  }
  if (is_right && is_slow) return wish;
  return Error{.what = "not a list of rails", .where = "what the processes tell each other", .seen = text};
}

std::string AnswerTo(const std::vector<std::string>& texts) {
  RailWish answer;
  std::set<std::size_t> astray;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    RailWish one = WishFromText(texts[i], std::size_t(-1)).value_or({});
    astray.insert(one.astray.begin(), one.astray.end());
    if (i == 0) answer.slow = std::move(one.slow);
  }
  answer.astray.assign(astray.begin(), astray.end());
  return WishToText(answer);
}

RailSearch::RailSearch(std::vector<RailResult> rails, double tolerance)
    : tolerance_(tolerance),
      results_(std::move(rails)),
      astray_(results_.size()),
      is_last_best_(results_.size()),
      next_(results_.size()) {
  std::iota(next_.begin(), next_.end(), 0);
}

RailWish RailSearch::Wish(const std::vector<double>& busbw, const std::vector<std::size_t>& astray) const {
  RailWish wish{.astray = astray};
  std::vector<RailResult> results = results_;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    if (!Contains(astray, next_[i])) Add(results[next_[i]], busbw[i]);
  }
  const std::vector<bool> slow = SlowRails(results, tolerance_);
  for (std::size_t rail = 0; rail < results.size(); ++rail) {
    if (slow[rail] && results[rail].times < kMostTimes && !Contains(astray, rail)) wish.slow.push_back(rail);
  }
  return wish;
}

Status RailSearch::Take(const std::vector<double>& busbw, const RailWish& answer) {
  std::set<std::size_t> again(answer.slow.begin(), answer.slow.end());
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::size_t rail = next_[i];
    if (Contains(answer.astray, rail)) {
      is_last_best_[rail] = false;
      again.insert(rail);
      if (++astray_[rail] < kMostTimes) continue;
      return Error{.what = "the bytes of a rail keep leaving by another one",
                   .where = "--per-rail",
                   .seen = std::to_string(rail) + " " + results_[rail].name};
    }
    is_last_best_[rail] = results_[rail].times == 0 || busbw[i] > results_[rail].busbw;
    Add(results_[rail], busbw[i]);
  }
  next_.assign(again.begin(), again.end());
  return base::Ok();
}

}  // namespace nccl_tune::bench
