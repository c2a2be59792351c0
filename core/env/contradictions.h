// SPDX-License-Identifier: Apache-2.0
//
// What the user or a file has set that does not mean what its writer thinks, or that this node contradicts: a port that
// is down, an empty GID slot, an interface without an address. Says it, changes nothing.
#ifndef NCCL_TUNE_CORE_ENV_CONTRADICTIONS_H_
#define NCCL_TUNE_CORE_ENV_CONTRADICTIONS_H_

#include <string>
#include <vector>

#include "base/environment.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::env {

struct Contradiction {
  std::string variable;
  std::string value;
  std::string what;  // one clause, with what happens
  std::string hint;  // a sentence, what to do instead; may be empty
  // It does not do what its writer thinks, and nothing goes wrong for that: no reason to warn.
  bool is_harmless = false;
};

// Judges the variables of `theirs` only. `all` is what a task of this node would see in the end, ours among it: the
// ports that a GID index hits depend on both. By variable, then as found.
std::vector<Contradiction> FindContradictions(const facts::Node& node, const base::Environment& theirs,
                                              const base::Environment& all, const nccl::NcclVersion& version);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_CONTRADICTIONS_H_
