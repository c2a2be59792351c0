// SPDX-License-Identifier: Apache-2.0
//
// Where a search's results go while it measures: stdout, the JSON and CSV files, a progress line on a terminal. Made in
// every process; only process 0's is ever told anything.
//
// Threads: any; result() is of the one that fills it in. Ownership: the streams outlive it. Errors: a file that cannot
// be made is an Error of Open; one that cannot be written later is said once and does not end the search
// (result_outlets.h).
#ifndef NCCL_TUNE_BENCH_SEARCH_REPORTER_H_
#define NCCL_TUNE_BENCH_SEARCH_REPORTER_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/result_outlets.h"
#include "bench/results.h"
#include "bench/search_result.h"

namespace nccl_tune::bench {

class SearchReporter {
 public:
  // Of `record` options, program, arguments and own version.
  SearchReporter(const Outlets& outlets, Record record);

  SearchReporter(const SearchReporter&) = delete;
  SearchReporter& operator=(const SearchReporter&) = delete;

  // Makes the files. Before the first line. An Error when one cannot be made: then none is left, and the search should
  // not begin.
  base::Status Open();
  // All lines up to the devices, as those of a run; returns the devices of each process.
  base::Result<std::vector<std::vector<Device>>> Header(const Identity& identity,
                                                        const std::vector<std::string>& device_texts);
  void MemoryCut(std::uint64_t max_bytes);
  void Note(const std::string& text);
  // After each round; `groups` are measured next.
  void Progress(std::size_t groups);
  // The findings, when the search is over.
  void Findings();
  // After the findings.
  void Doubts(const std::vector<std::string>& doubts);
  // A search that ends early. Completes what was written so that the files stay valid; nothing is written later.
  void Fail(const std::string& error);
  // Last call. An Error when a file is not what it should be.
  base::Status Finish();

  // What is reported; filled in by who measures.
  void Fill(const std::function<void(SearchResult&)>& fill);
  const SearchResult& result() const { return result_; }

 private:
  base::Status Add(const std::string& path, const ResultOutlets::Make& make);
  void Say(const std::string& text);

  ResultOutlets outlets_;
  std::mutex mutex_;
  Record record_;
  SearchResult result_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_REPORTER_H_
