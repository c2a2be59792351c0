// SPDX-License-Identifier: Apache-2.0
//
// nccl-tune doctor: whether Slurm loads the plugin on this machine, for which release, active or not, and why.
#ifndef NCCL_TUNE_CLI_DOCTOR_H_
#define NCCL_TUNE_CLI_DOCTOR_H_

#include <optional>
#include <string>

#include "base/environment.h"
#include "hw/tree.h"

namespace nccl_tune::cli {

struct DoctorInput {
  base::Environment environment;       // SLURM_CONF, NCCL_TUNE
  std::string node;                    // host name; empty: not known
  std::optional<std::string> release;  // what `srun --version` prints; absent: not known
};

struct Diagnosis {
  bool is_well = false;  // the plugin would be loaded, and nothing of its line and policy is lost
  std::string text;      // lines for the user
};

Diagnosis Diagnose(const hw::Tree& tree, const DoctorInput& input);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_DOCTOR_H_
