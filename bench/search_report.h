// SPDX-License-Identifier: Apache-2.0
//
// The result of a search as text, JSON and CSV (docs/formats.md). Pure.
#ifndef NCCL_TUNE_BENCH_SEARCH_REPORT_H_
#define NCCL_TUNE_BENCH_SEARCH_REPORT_H_

#include <string>

#include "bench/search_result.h"

namespace nccl_tune::bench {

// What follows the list of devices on stdout: lines that begin with # and hold none of the words that readers of
// nccl-tests' tables look for. For a complete search.
std::string SearchText(const SearchResult& result);

// Also of one that goes on or has ended early.
std::string SearchJson(const SearchResult& result);

// "first,second,busbw", each pair once with its best measurement. Larger groups are only in JSON.
std::string SearchCsv(const SearchResult& result);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_REPORT_H_
