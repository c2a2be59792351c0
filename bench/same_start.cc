// SPDX-License-Identifier: Apache-2.0
#include "bench/same_start.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <sstream>
#include <utility>

#include "base/hash.h"
#include "base/parse_number.h"

namespace nccl_tune::bench {
namespace {

constexpr char kGap = '\t';
constexpr std::string_view kSkips = "skips";

// Every value, parted by blanks, in one order.
template <typename... Values>
std::string Joined(const Values&... values) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  ((stream << values << ' '), ...);
  return stream.str();
}

std::string Described(const Options& o) {
  std::string text =
      Joined(static_cast<int>(o.mode), o.collective->name, o.names_no_collective, o.sweep.min_bytes, o.sweep.max_bytes,
             o.sweep.step_bytes, o.sweep.factor, o.threads, o.gpus, o.iterations, o.aggregated, o.warmup, o.cycles,
             o.checks, o.all_types, o.all_ops, o.root ? std::to_string(*o.root) : "all", static_cast<int>(o.blocking),
             o.graph_launches, static_cast<int>(o.average), static_cast<int>(o.registration), o.cta_policy.value_or(-1),
             o.device_implementation, o.device_ctas, o.reports_memory, o.unaligned, o.times_iterations,
             o.skipped_iterations, o.adaptive, o.traffic.digest(), o.summarises_ranks);
  for (const DataType type : o.types) text += Joined(NameOf(type));
  for (const ReduceOp op : o.ops) text += Joined(NameOf(op));
  if (o.split) text += Joined(static_cast<int>(o.split->operation), o.split->value);
  if (o.corruption) text += Joined(o.corruption->rank, o.corruption->offset);
  return text;
}

std::optional<StartFacts> Parse(const std::string& text) {
  std::array<std::string, 3> parts;
  std::size_t at = 0;
  for (std::string& part : parts) {
    const std::size_t end = text.find(kGap, at);
    if (end == std::string::npos) return std::nullopt;
    part = text.substr(at, end - at);
    at = end + 1;
  }
  const auto ranks = base::ParseInteger<std::uint64_t>(parts[0]);
  if (!ranks.ok()) return std::nullopt;
  return StartFacts{.ranks = *ranks, .digest = parts[1], .host = parts[2], .refusal = text.substr(at)};
}

// "process 3 (server2)".
std::string NameOf(std::size_t process, const std::string& host) {
  return "process " + std::to_string(process) + (host.empty() ? "" : " (" + host + ")");
}

// The first refusal; empty: there is none.
std::string FirstRefusal(const std::vector<StartFacts>& all) {
  const auto first = std::ranges::find_if(all, [](const StartFacts& one) { return !one.refusal.empty(); });
  if (first == all.end()) return "";
  const bool is_common = std::ranges::all_of(all, [&](const StartFacts& one) { return one.refusal == first->refusal; });
  return (is_common ? "" : NameOf(static_cast<std::size_t>(first - all.begin()), first->host) + ": ") + first->refusal;
}

}  // namespace

std::string DiffersText(std::size_t process, const std::string& host) {
  return NameOf(process, host) +
         " was started with other flags, variables or another matrix than process 0. All tasks need the same.";
}

std::string DigestOf(const Options& options) { return std::to_string(base::HashText(Described(options))); }

std::string StartToText(const StartFacts& facts) {
  return std::to_string(facts.ranks) + kGap + facts.digest + kGap + facts.host + kGap + facts.refusal;
}

StartDecision JudgeStart(const std::vector<std::string>& texts, const Options& options) {
  std::vector<StartFacts> all;
  for (const std::string& text : texts) {
    const auto facts = Parse(text);
    if (!facts) return {.refusal = DiffersText(all.size(), "")};
    all.push_back(*facts);
  }
  // A matrix that one process could not read makes its digest another one, too.
  if (std::string refusal = FirstRefusal(all); !refusal.empty()) return {.refusal = std::move(refusal)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].digest != all[0].digest) return {.refusal = DiffersText(i, all[i].host)};
  }
  const auto [least, most] = std::ranges::minmax(all, {}, &StartFacts::ranks);
  if (options.collective->has_root && !options.root && least.ranks != most.ranks) {
    return {.refusal = "-r -1: the groups of NCCL_TESTS_SPLIT have from " + std::to_string(least.ranks) + " to " +
                       std::to_string(most.ranks) + " ranks; each rank in turn as root needs groups of one size"};
  }
  const bool hypercube = options.collective->kind == CollectiveKind::kHypercube;
  return {.skips = hypercube &&
                   !std::ranges::all_of(all, [](const StartFacts& one) { return std::has_single_bit(one.ranks); })};
}

std::string DecisionToText(const StartDecision& decision) {
  return (decision.skips ? std::string(kSkips) : "") + kGap + decision.refusal;
}

StartDecision DecisionFromText(const std::string& text) {
  const std::size_t gap = std::min(text.find(kGap), text.size());
  return {.skips = text.substr(0, gap) == kSkips, .refusal = text.substr(std::min(gap + 1, text.size()))};
}

}  // namespace nccl_tune::bench
