// SPDX-License-Identifier: Apache-2.0
//
// `nccl-bench pairs` and `nccl-bench bisect`: groups of nodes are measured at the same time, in rounds; process 0
// decides what is measured next by what it was told (pair_search.h, bisect.h). The same in every process; process 0's
// reporter alone is told what comes out.
#ifndef NCCL_TUNE_BENCH_SEARCH_H_
#define NCCL_TUNE_BENCH_SEARCH_H_

#include <optional>
#include <ostream>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/options.h"
#include "bench/search_reporter.h"

namespace nccl_tune::bench {

struct SearchParts {
  Backend* backend = nullptr;
  SearchReporter* reporter = nullptr;
  std::ostream* notes = nullptr;  // stderr
  // Why this process cannot go on, found before: then none does.
  std::optional<base::Error> refusal{};
};

enum class SearchEnd {
  kNothing,     // nothing is slow
  kSuspicious,  // something is named, or data was wrong; in each process the same
  kNoPeers,     // fewer than two nodes: said, nothing measured
  kRefused      // a process cannot go on, or they are not about to do the same: said, nothing measured
};

// `options` as SettleSearch left them. An Error is this process's own.
base::Result<SearchEnd> RunSearch(const SearchParts& parts, Options options);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_H_
