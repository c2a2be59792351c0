// SPDX-License-Identifier: Apache-2.0
//
// What nccl-bench sets for Open MPI before it starts, unless the user has. Pure: texts and numbers in, settings out.
#ifndef NCCL_TUNE_BENCH_MPI_SETTINGS_H_
#define NCCL_TUNE_BENCH_MPI_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"

namespace nccl_tune::bench {

struct MpiFacts {
  base::Environment environment{};
  std::vector<std::string> parameter_files{};  // texts of Open MPI's parameter files
  std::uint64_t ranks = 1;
  std::uint64_t local_ranks = 1;
  std::uint64_t usable_cores = 1;  // of this process
  std::uint64_t online_cores = 1;  // of the machine
};

struct Setting {
  std::string name{};  // an environment variable
  std::string value{};
  std::string why{};
};

// Nothing for a single rank.
std::vector<Setting> ChooseMpiSettings(const MpiFacts& facts);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_MPI_SETTINGS_H_
