// SPDX-License-Identifier: Apache-2.0
//
// Where the results of a run go while it measures: the table on stdout, the JSON and CSV files, a progress line on a
// terminal. Made in every process; only the leader's is ever told anything but Note and Fail.
//
// Threads: any; one call at a time. Ownership: the streams outlive it. Errors: a file that cannot be made is an Error
// of Open; one that cannot be written later is said once and does not end the run (result_outlets.h).
#ifndef NCCL_TUNE_BENCH_REPORTER_H_
#define NCCL_TUNE_BENCH_REPORTER_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/result_outlets.h"
#include "bench/results.h"

namespace nccl_tune::bench {

class Reporter {
 public:
  Reporter(const Outlets& outlets, Record record) : outlets_(outlets), record_(std::move(record)) {}

  // Makes the files. Before the first line, as in nccl-tests. An Error when one cannot be made: then none is left, and
  // the run should not begin. But -J is left out then, as by nccl-tests, and said.
  base::Status Open();
  // All lines up to the devices; `device_texts` are DevicesToText of all processes.
  base::Status Header(const Identity& identity, const std::vector<std::string>& device_texts);
  void MemoryCut(std::uint64_t max_bytes);
  void Columns();
  void Print(const std::string& line);

  void BeginRow(Row row);
  // The row's first block is the one out of place. Rows are kept for the files and what is said at the end, up to a
  // bound of memory (KeptBytes): of later ones only the best busbw counts, which is said once when there are files.
  void AddBlock(const Block& block, bool in_place);
  void EndRow();
  void Footer(std::uint64_t wrong, const std::optional<MemoryUse>& memory, const std::string& last_error);
  // For stderr, a whole line.
  void Note(const std::string& line);
  // A run that ends early, or fails after its footer. A row half printed is closed and kept, the files stay valid;
  // nothing that is told later is printed.
  void Fail(const std::string& error);
  // A complete run that falls short of what was asked for: told, and kept in the files.
  void Missed(const std::string& text);
  // After the footer: what is said on stderr and kept in JSON.
  void Verdicts(const std::vector<std::string>& verdicts, const std::vector<std::string>& doubts);
  // Last call. An Error when a file is not what it should be.
  base::Status Finish();

  const Record& record() const { return record_; }

 private:
  void Write(const std::string& text);
  base::Result<std::string> OpenJson();
  base::Status OpenCsv();
  base::Result<std::string> Add(const std::string& path, const ResultOutlets::Make& make);
  void KeepRow();
  std::size_t KeptBytes() const;
  double Average() const;

  ResultOutlets outlets_;
  Record record_;
  std::mutex mutex_;
  std::optional<Row> row_{};    // while it is being measured
  std::size_t row_blocks_ = 0;  // of it
  std::uint64_t rows_ = 0;      // done
  std::size_t kept_bytes_ = 0;  // of the rows that are kept
  bool keeps_all_ = true;       // so far
  double bandwidth_ = 0;        // sum over the blocks
  std::uint64_t blocks_ = 0;
  bool concluded_ = false;  // the footer is printed
  bool failed_ = false;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_REPORTER_H_
