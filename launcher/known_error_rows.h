// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table of known errors, by what prints them; known_errors.h puts them in order. Pure.
#ifndef NCCL_TUNE_LAUNCHER_KNOWN_ERROR_ROWS_H_
#define NCCL_TUNE_LAUNCHER_KNOWN_ERROR_ROWS_H_

#include <span>

#include "launcher/known_errors.h"

namespace nccl_tune::launcher {

std::span<const KnownError> VerbsErrors();     // InfiniBand and RoCE below NCCL
std::span<const KnownError> NetworkErrors();   // NCCL's bootstrap, sockets, choice of network
std::span<const KnownError> GpuErrors();       // CUDA, shared memory, NVLink
std::span<const KnownError> PyTorchErrors();   // c10d, gloo, libraries
std::span<const KnownError> LauncherErrors();  // Slurm, PMIx, Open MPI
std::span<const KnownError> GeneralErrors();   // summaries, and what follows from another rank's end

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_KNOWN_ERROR_ROWS_H_
