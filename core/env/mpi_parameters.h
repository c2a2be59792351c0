// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's parameter files as settings: a parameter set there counts like its variable OMPI_MCA_NAME, and an include
// beside its exclude ends the job wherever the two stand.
#ifndef NCCL_TUNE_CORE_ENV_MPI_PARAMETERS_H_
#define NCCL_TUNE_CORE_ENV_MPI_PARAMETERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "core/nccl/conf_file.h"

namespace nccl_tune::env {

// Where Open MPI looks, first the one that wins: the user's file, then the one of Debian's and the vendors' packages.
// A build under another prefix has its own, which cannot be known here. Absolute paths.
std::vector<std::string> MpiParameterPaths(const base::Environment& environment);

// "name = value" lines, "#" begins a comment. Names come out as OMPI_MCA_NAME. Lines without "=" are skipped, as Open
// MPI does. Never fails.
nccl::ConfFile ParseMpiParameters(std::string path, std::string_view text);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_MPI_PARAMETERS_H_
