// SPDX-License-Identifier: Apache-2.0
//
// Whether all processes are about to do the same: flags, matrix and sizes of their groups are compared before anything
// is connected, since later each would wait for calls that the others never make. Pure.
#ifndef NCCL_TUNE_BENCH_SAME_START_H_
#define NCCL_TUNE_BENCH_SAME_START_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

// What a process tells process 0.
struct StartFacts {
  std::uint64_t ranks = 1;  // of its group
  std::string digest{};     // DigestOf its options
  std::string host{};       // to name it by; no tabulator in it
  std::string refusal{};    // why it cannot go on, one line; empty: it can
};

// FNV-1a of everything that decides which calls a process makes.
std::string DigestOf(const Options& options);

std::string StartToText(const StartFacts& facts);

// What all do: go on, measure nothing since a hypercube needs a power of 2 in each group, or end.
struct StartDecision {
  bool skips = false;
  std::string refusal{};  // one line; empty: they go on
};

// By process 0, from the texts of all processes in their order. The refusal names the process, unless all are refused
// for the same.
StartDecision JudgeStart(const std::vector<std::string>& texts, const Options& options);

std::string DecisionToText(const StartDecision& decision);
StartDecision DecisionFromText(const std::string& text);

// What is said of a process whose flags are not process 0's; `host` may be empty.
std::string DiffersText(std::size_t process, const std::string& host);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SAME_START_H_
