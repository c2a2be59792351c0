// SPDX-License-Identifier: Apache-2.0
//
// Which variables a result file may show. nccl-tests writes the whole environment, with the tokens in it. Pure.
#ifndef NCCL_TUNE_BENCH_SHOWN_ENVIRONMENT_H_
#define NCCL_TUNE_BENCH_SHOWN_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace nccl_tune::bench {

// Whether the variable is one of those that decide how a run communicates or where it runs (NCCL_*, UCX_*, OMPI_*,
// PMIX_MCA_*, CUDA_VISIBLE_DEVICES, some of Slurm's) and its name does not sound like a secret: KEY (but not PKEY, an
// index), TOKEN, SECRET, PASSW, CREDENTIAL, AUTH in any case, nor Open MPI's transport key and contact addresses.
bool IsShown(std::string_view name);

// "NAME=value" of each that is shown, sorted by name.
std::vector<std::string> ShownEnvironment(const base::Environment& environment);

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_SHOWN_ENVIRONMENT_H_
