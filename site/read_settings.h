// SPDX-License-Identifier: Apache-2.0
//
// The parts of a policy that hold values: modes, traffic class, variables and profiles.
#ifndef NCCL_TUNE_SITE_READ_SETTINGS_H_
#define NCCL_TUNE_SITE_READ_SETTINGS_H_

#include <string>
#include <vector>

#include "core/policy/site_policy.h"
#include "site/section.h"

namespace nccl_tune::site {

// Each reads its key into a block; on a fault it adds problems and leaves out what is wrong.
void ReadMode(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadGidIndex(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadTrafficClass(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadVariables(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadSet(const Entry& entry, policy::SitePolicy* out, Problems* problems);
void ReadProfiles(const Entry& entry, policy::SitePolicy* out, Problems* problems);

// What the keys of one block say against each other: a variable that is given in two ways, or given and refused.
// `block` is the block's own keys, `whole` those with the file's main keys below them.
void CheckTogether(const policy::SitePolicy& block, const policy::SitePolicy& whole, Problems* problems);

// A problem when the values that can be set at once are more than a plan can carry.
void CheckSizes(const policy::SiteFile& file, Problems* problems);

// The keys that these tables may hold, below the table's own key: for tests of what is documented.
std::vector<std::string> TrafficClassKeys();
std::vector<std::string> VariablesKeys();

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_READ_SETTINGS_H_
