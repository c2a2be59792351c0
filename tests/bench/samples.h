// SPDX-License-Identifier: Apache-2.0
//
// Whole outputs of nccl-bench made by its own code from made-up results, for the programs in test_consumers.py to read.
#ifndef NCCL_TUNE_TESTS_BENCH_SAMPLES_H_
#define NCCL_TUNE_TESTS_BENCH_SAMPLES_H_

#include <string>
#include <vector>

namespace nccl_tune::bench {

struct Sample {
  std::string file;  // below tests/bench/samples
  std::string text;
};

std::vector<Sample> MakeSamples();

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_TESTS_BENCH_SAMPLES_H_
