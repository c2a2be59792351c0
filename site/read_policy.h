// SPDX-License-Identifier: Apache-2.0
//
// The site policy of a machine: etc/nccl-tune/nccl-tune.toml below the root of a tree.
#ifndef NCCL_TUNE_SITE_READ_POLICY_H_
#define NCCL_TUNE_SITE_READ_POLICY_H_

#include <string_view>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "hw/tree.h"

namespace nccl_tune::site {

inline constexpr std::string_view kPolicyPath = "etc/nccl-tune/nccl-tune.toml";

// Never fails: a file that is absent gives the default policy and no note; one that cannot be read, that others than
// root may write or that has a fault gives the default policy and one note that warns and names the first fault. Odd
// things that are no fault are notes too. `path`: below the root.
policy::SiteFile ReadPolicy(const hw::Tree& tree, std::vector<facts::Note>* notes, std::string_view path = kPolicyPath);

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_READ_POLICY_H_
