// SPDX-License-Identifier: Apache-2.0
//
// What NCCL is told where its process has no value of its own. Made once, then only read.
//
// Threads: any number at once. Ownership: holds its texts; what Find gives is valid as long as this lives.
#ifndef NCCL_TUNE_ENVPLUGIN_ANSWERS_H_
#define NCCL_TUNE_ENVPLUGIN_ANSWERS_H_

#include <string>
#include <utility>

#include "core/env/plan.h"

namespace nccl_tune::envplugin {

class Answers {
 public:
  // `kept`: what the process had set itself when the values were made.
  Answers(env::Environment values, env::Environment kept) : values_(std::move(values)), kept_(std::move(kept)) {}

  // The value for `name`; null: none of ours. `now` tells a variable's value in the process at this moment: what the
  // process has set since is the user's, so neither it nor what was computed for another value of it is answered.
  const char* Find(const char* name, const env::LookupNow& now) const;

 private:
  const env::Environment values_;
  const env::Environment kept_;
};

}  // namespace nccl_tune::envplugin

#endif  // NCCL_TUNE_ENVPLUGIN_ANSWERS_H_
