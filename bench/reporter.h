// SPDX-License-Identifier: Apache-2.0
//
// Where the results of a run go while it measures: the table on stdout, the JSON and CSV files, a progress line on a
// terminal. Made in every process; only the leader's is ever told anything but Note and Fail.
//
// Threads: any; one call at a time. Ownership: the streams outlive it. Errors: a file that cannot be written is said on
// `notes` once and does not end the run; Finish tells it again by its value, unless a later try went well.
#ifndef NCCL_TUNE_BENCH_REPORTER_H_
#define NCCL_TUNE_BENCH_REPORTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/backend.h"
#include "bench/result_file.h"
#include "bench/results.h"

namespace nccl_tune::bench {

struct Outlets {
  std::ostream* out = nullptr;
  std::ostream* notes = nullptr;
  bool progress = false;  // notes is a terminal and out is none
};

class Reporter {
 public:
  Reporter(const Outlets& outlets, Record record) : outlets_(outlets), record_(std::move(record)) {}

  // Makes the files. Before the first line, as in nccl-tests.
  void Open();
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
  // After the footer: what is said on stderr and kept in JSON.
  void Verdicts(const std::vector<std::string>& verdicts, const std::vector<std::string>& doubts);
  // Last call. An Error when a file is not what it should be.
  base::Status Finish();

  const Record& record() const { return record_; }

 private:
  struct File {
    std::optional<ResultFile> file{};
    std::optional<base::Error> trouble{};
  };

  void Write(const std::string& text);
  void Make(File& file, const std::string& path);
  void Save(bool now);
  void Save(File& file, bool now, const std::function<std::string()>& make);
  void Trouble(File& file, const base::Error& error);
  void KeepRow();
  std::size_t KeptBytes() const;
  void ClearProgress();
  double Average() const;

  Outlets outlets_;
  Record record_;
  std::mutex mutex_;
  File json_{};
  File csv_{};
  std::optional<Row> row_{};    // while it is being measured
  std::size_t row_blocks_ = 0;  // of it
  std::uint64_t rows_ = 0;      // done
  std::size_t kept_bytes_ = 0;  // of the rows that are kept
  bool keeps_all_ = true;       // so far
  double bandwidth_ = 0;        // sum over the blocks
  std::uint64_t blocks_ = 0;
  bool concluded_ = false;  // the footer is printed
  bool failed_ = false;
  std::size_t progress_width_ = 0;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_REPORTER_H_
