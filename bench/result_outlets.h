// SPDX-License-Identifier: Apache-2.0
//
// Where a run's or a search's results go while it measures: stdout, result files, and stderr with a progress line on a
// terminal. What the texts are is the reporters' (reporter.h, search_reporter.h).
//
// Threads: one at a time. Ownership: the streams outlive it. Errors: a file that cannot be made is an Error of Add; one
// that can later not be written is said on stderr once, and told again by Finish, unless a later try went well.
#ifndef NCCL_TUNE_BENCH_RESULT_OUTLETS_H_
#define NCCL_TUNE_BENCH_RESULT_OUTLETS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/result_file.h"

namespace nccl_tune::bench {

struct Outlets {
  std::ostream* out = nullptr;
  std::ostream* notes = nullptr;
  bool progress = false;  // notes is a terminal and out is none
};

class ResultOutlets {
 public:
  using Make = std::function<std::string()>;

  explicit ResultOutlets(const Outlets& outlets) : outlets_(outlets) {}

  // Takes a free name, `path` or one with a number behind it (result_file.h), and writes what `make` gives: that is the
  // file's text whenever it is saved. Returns the name. An Error: no file is left, and none is added.
  base::Result<std::string> Add(const std::string& path, Make make);
  // As Add, for a file that ResultFile::Create has made in another process. Not being able to write it is no Error.
  void AddMade(const std::string& path, Make make);
  // Takes all files away again, for a run that does not begin.
  void RemoveFiles();
  bool has_files() const { return !files_.empty(); }

  void Save();
  // Those files of which it is time (ResultFile::IsDue).
  void SaveWhenDue();
  // Saves. The first Error of a file that is not what it should be.
  base::Status Finish();

  // To stdout, at once.
  void Write(const std::string& text);
  // Whole lines for stderr.
  void Note(const std::string& lines);
  // A line for a terminal, until anything else is said.
  void Progress(const std::string& line);
  void ClearProgress();

 private:
  struct File {
    ResultFile file;
    Make make{};
    std::optional<base::Error> trouble{};
  };

  void Save(File& file);
  void Trouble(File& file, const base::Error& error);

  Outlets outlets_;
  std::vector<File> files_{};
  std::size_t progress_width_ = 0;
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RESULT_OUTLETS_H_
