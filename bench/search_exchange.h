// SPDX-License-Identifier: Apache-2.0
//
// What the processes of a search tell each other in one round: process 0 which group each is in, each process what it
// measured. Pure.
#ifndef NCCL_TUNE_BENCH_SEARCH_EXCHANGE_H_
#define NCCL_TUNE_BENCH_SEARCH_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/bisect.h"

namespace nccl_tune::bench {

// The group of each process, by its number; nothing: it measures nothing in this round.
using Assignment = std::vector<std::optional<std::uint64_t>>;

// Processes are in the group of their node. `node_of` has the node of each process; no node is in two groups.
Assignment Assign(const std::vector<NodeGroup>& groups, const std::vector<std::uint64_t>& node_of);
std::string AssignmentToText(const Assignment& assignment);
// Fails unless it is of exactly `processes` processes.
base::Result<Assignment> AssignmentFromText(const std::string& text, std::uint64_t processes);

// What one process measured.
struct Measurement {
  std::vector<double> busbw{};  // GB/s, one for each size; empty: it was in no group
  bool is_right = true;         // its data
};

std::string MeasurementToText(const Measurement& measurement);
base::Result<Measurement> MeasurementFromText(const std::string& text);

// Of the processes of one group: for each size the slowest process, then the best size. 0 without any, or when they
// have not measured the same sizes; what is no number counts as 0.
double GroupBusbw(const std::vector<Measurement>& members);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SEARCH_EXCHANGE_H_
