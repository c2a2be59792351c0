// SPDX-License-Identifier: Apache-2.0
#include "bench/search_options.h"

#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::bench {
namespace {

using base::Error;
using base::Status;

// What cannot be, with the reason.
struct Refusal {
  bool is_asked = false;
  const char* where = "";
  const char* what = "";
  const char* expected = "";
};

std::vector<Refusal> Refusals(const Options& options) {
  const CollectiveKind kind = options.collective->kind;
  return {
      {options.threads > 1, "-t", "a search has one thread per process", "1; more tasks per node, or -g, use all GPUs"},
      {options.all_types || options.types.size() > 1, "-d", "a search compares one number", "one type"},
      {options.collective->lists_ops && (options.all_ops || options.ops.size() > 1), "-o",
       "a search compares one number", "one operation"},
      {options.collective->has_root && options.root != 0, "-r", "each group of a search has its own ranks", "0"},
      {kind == CollectiveKind::kHypercube, "hypercube", "groups are not always of a power of 2 ranks",
       "another collective"},
      {options.traffic.is_matrix() || !options.matrix_file.empty(), "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
       "a matrix is for all ranks, not for the groups of a search", "it not to be set"},
      {options.per_rail, "--per-rail", "a search measures all rails of a node together",
       "pairs, or one collective between two nodes with --per-rail"},
  };
}

}  // namespace

Status SettleSearch(Options& options) {
  if (options.mode != Mode::kPairs && options.mode != Mode::kBisect) return base::Ok();
  for (const Refusal& one : Refusals(options)) {
    if (!one.is_asked) continue;
    return Error{.code = base::Code::kInvalidInput,
                 .what = one.what,
                 .where = one.where,
                 .seen = options.mode == Mode::kPairs ? "pairs" : "bisect",
                 .expected = one.expected};
  }
  const std::vector<std::pair<bool, const char*>> aside = {
      {options.adaptive, "--adaptive"},
      {options.cycles != 1, "-N"},
      {options.graph_launches > 0, "-G"},
      {options.times_iterations, "-I"},
      {options.reports_timestamps, "-S"},
      {options.reports_cpu_time, "-C"},
      {options.reports_memory, "-M"},
      {options.least_busbw.has_value(), "--min-busbw"},
      {options.least_average.has_value(), "NCCL_TESTS_MIN_BW"},
  };
  for (const auto& [is_asked, flag] : aside) {
    if (is_asked) options.warnings.push_back(std::string(flag) + ": has no meaning in a search, ignoring it");
  }
  options.adaptive = false;
  options.cycles = 1;
  options.graph_launches = 0;
  options.times_iterations = false;
  options.reports_cpu_time = false;
  options.least_busbw.reset();
  options.least_average.reset();
  // Each process its own time: what all share would mix the groups.
  options.average = Average::kFirst;
  return base::Ok();
}

}  // namespace nccl_tune::bench
