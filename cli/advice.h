// SPDX-License-Identifier: Apache-2.0
//
// What an administrator has to write or run so that Slurm loads the plugin.
#ifndef NCCL_TUNE_CLI_ADVICE_H_
#define NCCL_TUNE_CLI_ADVICE_H_

#include <string>
#include <string_view>

#include "hw/tree.h"
#include "site/installation.h"

namespace nccl_tune::cli {

// For a plugstack.conf that is absent or names no plugin of ours: which line to write into which file, or to let in.
std::string HowToName(const hw::Tree& tree, const site::Installation& installation);

// For a plugin whose file, at `path`, is not there or not ours.
std::string HowToInstall(std::string_view path);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_ADVICE_H_
