// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a forked child with the user's ids and takes what it wrote, within a deadline: neither a hung
// driver nor a fault of ours can stop or kill the process that calls, which is slurmstepd.
#ifndef NCCL_TUNE_SPANK_CHILD_H_
#define NCCL_TUNE_SPANK_CHILD_H_

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace nccl_tune::spank {

// `work` runs in the child, which holds no descriptor of the caller but the pipe, and only the caller's effective user
// and group. Returns its text, at most 256 KiB. Fails with kTimeout when the deadline passes (the child is killed; one
// that does not die is left behind), and with kInternal when the child ends otherwise than by itself with success, as
// when `work` throws.
base::Result<std::string> RunInChild(const std::function<std::string()>& work, std::chrono::milliseconds deadline);

// What a process forked from Slurm's does first: no handler and no blocked signal of the host's; no core file and no
// way for the user's processes to read its memory, which is a copy of the host's; no descriptor from `first` up.
void ResetSignals();
void BeUnreadable();
void CloseFrom(int first);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_CHILD_H_
