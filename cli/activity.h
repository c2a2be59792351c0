// SPDX-License-Identifier: Apache-2.0
//
// In which jobs a loaded plugin is active, by the arguments of its line and the site's policy.
#ifndef NCCL_TUNE_CLI_ACTIVITY_H_
#define NCCL_TUNE_CLI_ACTIVITY_H_

#include <string>
#include <vector>

#include "core/policy/site_policy.h"
#include "site/installation.h"

namespace nccl_tune::cli {

struct Activity {
  std::string text;                // "active in jobs that ask: srun --nccl-tune"
  std::vector<std::string> notes;  // modes of the policy that have no effect, with what would give them one
};

// `file`: the policy as the plugin takes it; the default one where there is none or it is ignored. `here`: what of it
// holds on this machine.
Activity DescribeActivity(const site::Installation& installation, const policy::SiteFile& file,
                          const policy::SitePolicy& here);

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_ACTIVITY_H_
