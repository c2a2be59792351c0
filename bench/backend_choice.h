// SPDX-License-Identifier: Apache-2.0
//
// Which backend measures, and why, and which flags say nothing to it. Pure.
#ifndef NCCL_TUNE_BENCH_BACKEND_CHOICE_H_
#define NCCL_TUNE_BENCH_BACKEND_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/options.h"

namespace nccl_tune::bench {

struct ChoiceFacts {
  std::optional<BackendKind> forced{};
  std::string nccl_missing{};  // why there is no NCCL backend beside the program; empty: there is one
  int devices = 0;             // CUDA devices
  std::string devices_why{};   // why there are none
  int threads = 1;             // -t
  int gpus = 1;                // -g, per thread
};

struct Choice {
  BackendKind kind = BackendKind::kMpi;
  std::string reason{};
};

// Fails when the forced backend is not there, or cannot do what is asked; kNotFound: more GPUs are asked for than there
// are, for which nccl-tests ends with 5.
base::Result<Choice> ChooseBackend(const ChoiceFacts& facts);

// Takes out of `options` what means nothing in host memory; a sentence for stderr for each.
std::vector<std::string> LeaveAside(Options& options);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BACKEND_CHOICE_H_
