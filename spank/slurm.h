// SPDX-License-Identifier: Apache-2.0
//
// slurm/spank.h as C++ can use it. Slurm declares the callbacks before its own extern "C" and needs <cstdint> and
// <sys/types.h> without including them (seen in 22.05 to 26.05).
#ifndef NCCL_TUNE_SPANK_SLURM_H_
#define NCCL_TUNE_SPANK_SLURM_H_

#include <sys/types.h>

#include <cstdint>

extern "C" {
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
}

#endif  // NCCL_TUNE_SPANK_SLURM_H_
