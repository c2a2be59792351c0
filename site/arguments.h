// SPDX-License-Identifier: Apache-2.0
//
// The plugin's arguments in plugstack.conf: words in, values out. Knows no Slurm.
#ifndef NCCL_TUNE_SITE_ARGUMENTS_H_
#define NCCL_TUNE_SITE_ARGUMENTS_H_

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "site/mode.h"

namespace nccl_tune::site {

struct Arguments {
  Mode site_default;                        // default=MODE: of jobs that say nothing; off as shipped
  bool default_by_policy = false;           // default=policy: the site's policy says what they get
  std::string policy;                       // policy=FILE, an absolute path
  std::chrono::milliseconds deadline{500};  // timeout_ms=NUMBER: longest detection
};

// One argument into `out`. On an error (kInvalidInput) `out` is as it was.
base::Status TakeArgument(std::string_view argument, Arguments* out);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_ARGUMENTS_H_
