// SPDX-License-Identifier: Apache-2.0
//
// Value of --nccl-tune, of NCCL_TUNE and of default= in plugstack.conf: words in, mode out. Knows no Slurm.
#ifndef NCCL_TUNE_SITE_MODE_H_
#define NCCL_TUNE_SITE_MODE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nccl_tune::site {

struct Mode {
  bool set = false;                             // change the tasks' environment
  bool explain = false;                         // print the plan to the user
  bool mpi = false;                             // also the variables of MPI and UCX
  bool strict = false;                          // a node that contradicts or cannot be tuned ends the step
  std::string profile{};                        // of the site's policy; empty: none
  std::map<std::string, std::string> values{};  // set=NAME:VALUE
  std::set<std::string> unset{};                // unset=NAME

  bool Active() const { return set || explain; }
  bool operator==(const Mode&) const = default;
};

// The items with commas between: auto, off, explain, dry-run, strict, mpi, profile=NAME, set=NAME:VALUE, unset=NAME.
// Each but off and dry-run alone also sets; off stands alone. Two commas in a VALUE are one comma of it. Without a
// value (also the "(null)" that Slurm makes of one in a nested srun): auto. `where`: what the text is the value of, for
// messages.
base::Result<Mode> ParseMode(std::string_view text, std::string_view where = "--nccl-tune");

// A line for each set= and unset= of a variable that we do not know, which a newer NCCL may.
std::vector<std::string> UnknownVariables(const Mode& mode);

// The items as --help and messages list them.
std::string_view ModeItems();

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_MODE_H_
