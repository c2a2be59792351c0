// SPDX-License-Identifier: Apache-2.0
//
// Error texts that NCCL, PyTorch, CUDA, Slurm, PMIx and Open MPI print when a distributed program dies or hangs, with
// their true cause and what to do. A table as data; docs/errors.md is made from it. Pure.
//
// Threads: the table is constant, any thread may read it. Ownership: everything points into the table, which lives as
// long as the program.
#ifndef NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_H_
#define NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nccl_tune::launcher {

struct KnownError {
  std::string_view id;
  // Any one of them in one line explains it: the same message in the wordings of several releases. A pattern is plain
  // text in which `*` stands for anything within the line; case matters. Those not used are "".
  std::array<std::string_view, 5> patterns;
  // One more pattern that must stand in any of the lines; "": none.
  std::string_view also{};
  // Says that something failed, or that another process has, but not why: worth showing when nothing else is known.
  bool general = false;
  std::string_view symptom;  // in a few words
  std::string_view cause;
  std::string_view action;
  std::string_view source;  // where the fact is from: https://...
};

// Every row, those that say most first: a line is explained by the first row that matches it.
std::span<const KnownError> KnownErrors();

struct Explanation {
  const KnownError* error;  // never null
  std::size_t line;         // index of the first line that it explains
};

// The explanations of the lines, at most 3, each once, those that say most first; rows that are `general` only when no
// other explains anything. `lines` may hold anything: colours are skipped, of a longer line the last 4 KiB are read,
// of more lines the last 200. Time is linear in the text.
std::vector<Explanation> ExplainLines(std::span<const std::string> lines);

// Whether `pattern` stands somewhere in `line`.
bool MatchesPattern(std::string_view line, std::string_view pattern);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_KNOWN_ERRORS_H_
