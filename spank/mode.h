// SPDX-License-Identifier: Apache-2.0
//
// Value of --nccl-tune, of NCCL_TUNE and of default= in plugstack.conf: words in, mode out. Knows no Slurm.
#ifndef NCCL_TUNE_SPANK_MODE_H_
#define NCCL_TUNE_SPANK_MODE_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nccl_tune::spank {

struct Mode {
  bool set = false;       // change the tasks' environment
  bool explain = false;   // print the plan to the user
  bool mpi = false;       // also the variables of MPI and UCX
  std::string profile{};  // of the site's policy; empty: none

  bool Active() const { return set || explain; }
  bool operator==(const Mode&) const = default;
};

// A comma list of auto, off, explain, dry-run, mpi and profile=NAME. Each but off and dry-run alone also sets; off
// stands alone. Without a value (also the
// "(null)" that Slurm makes of one in a nested srun): auto.
base::Result<Mode> ParseMode(std::string_view text);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_MODE_H_
