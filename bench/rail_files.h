// SPDX-License-Identifier: Apache-2.0
//
// The result files of --per-rail: one JSON and one CSV file for each rail, named after it, of the measurement that
// counts. Process 0 of the step takes the names, the process that measures the rail writes (Options::files_are_made).
//
// Threads: one. Errors: by value; nothing is said here.
#ifndef NCCL_TUNE_BENCH_RAIL_FILES_H_
#define NCCL_TUNE_BENCH_RAIL_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// In a child's environment (rail_runs.h): kRailSurvey, or the number of its rail.
inline constexpr const char* kRailVariable = "NCCL_BENCH_RAIL";

// "DIR/result.json" of "mlx5_0:1" is "DIR/result.mlx5_0_1.json": the rail stands before the last dot of the file's own
// name, or at its end, with _ for all but letters, digits, "_", "-" and ".". A name of a folder stays one. Pure.
std::string RailFileName(const std::string& file, const std::string& rail);

// In a rail's process: the names that its files have, over those of the command line.
void TakeRailFiles(const base::Environment& environment, Options& options);

class RailFiles {
 public:
  // `rails` are names. Empty file names: no such file.
  RailFiles(std::string json, std::string csv, std::vector<std::string> rails);

  // Whether the files of all rails can be made now; leaves none.
  base::Status Try() const;
  // Before a rail is measured: takes its names, at first, and tells them to the process that measures.
  base::Status Begin(std::size_t rail, base::Environment& environment);
  // Once it is known whether the rail's last measurement counts; else the one before is put back. An Error when that
  // cannot be written: the file then has the last one.
  base::Status Settle(std::size_t rail, bool counts);
  // Takes those files of the rail away that nothing was written to.
  void RemoveEmpty(std::size_t rail) const;
  // Those of the rail, with ", " in between.
  std::string Names(std::size_t rail) const;

 private:
  struct File {
    std::string path{};  // empty: not yet made
    std::string before{};
  };

  std::vector<std::string> wanted_;  // JSON, CSV
  std::vector<std::string> rails_;
  std::vector<std::vector<File>> files_;  // of each rail, as wanted_
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_RAIL_FILES_H_
