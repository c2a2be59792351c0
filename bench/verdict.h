// SPDX-License-Identifier: Apache-2.0
//
// Whether the best busbw of a run is good: short sentences with the value, what it is compared with and where that
// comes from. Pure.
//
// They are for stderr and the JSON file. Since some programs read both streams as one, no sentence has a word that
// parsers of nccl-tests' output look for ("bandwidth", "FAILED", "Test failure", "out-of-place", " on ", "Rank").
#ifndef NCCL_TUNE_BENCH_VERDICT_H_
#define NCCL_TUNE_BENCH_VERDICT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/expectation.h"
#include "bench/results.h"

namespace nccl_tune::bench {

struct VerdictFacts {
  Places places{};
  WireFacts wire{};
  bool host_memory = false;
};

// Of a finished record, of a broken one too. Best first read: each sentence stands alone. Empty when there is nothing
// to say.
std::vector<std::string> MakeVerdicts(const Record& record, const VerdictFacts& facts);

// Bytes from which on a size tells the bandwidth of a wire that carries `bus` GB/s, and not its latency: those that
// take a millisecond, a power of two.
std::uint64_t LeastTellingBytes(double bus);

// "8G", "32M", "1000".
std::string SizeText(std::uint64_t bytes);

// Three digits: "2.85", "38.8", "388".
std::string BusText(double gigabytes_per_second);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_VERDICT_H_
