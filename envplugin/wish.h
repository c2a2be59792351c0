// SPDX-License-Identifier: Apache-2.0
//
// What the process's environment asks of the env plugin: NCCL_TUNE, in the words of --nccl-tune. Values in, values out.
#ifndef NCCL_TUNE_ENVPLUGIN_WISH_H_
#define NCCL_TUNE_ENVPLUGIN_WISH_H_

#include <string>

#include "base/environment.h"

namespace nccl_tune::envplugin {

struct Wish {
  bool stated = false;    // NCCL_TUNE has a value
  bool set = true;        // answer NCCL with values of ours; whoever loads the plugin wants that, unless said otherwise
  bool explain = false;   // print the plan
  std::string profile{};  // of the site's policy; empty: none
  std::string refused{};  // an item that is none: nothing is set then, as in the Slurm plugin; empty: all are right

  bool Active() const { return set || explain; }
  bool operator==(const Wish&) const = default;
};

// Items with commas between: auto, off, explain, dry-run, profile=NAME. Those that concern others are passed over:
// mpi, strict, set=NAME:VALUE (two commas in VALUE are one of it) and unset=NAME. off stands alone.
Wish ReadWish(const base::Environment& environment);

// Whether this process is the one of its node that prints: the first by the launcher's count, or any where no launcher
// has counted.
bool IsFirstOnNode(const base::Environment& environment);

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_WISH_H_
