// SPDX-License-Identifier: Apache-2.0
//
// The text of a site policy (docs/site-policy.md) as a value. Looks at the text alone: no file, no node.
#ifndef NCCL_TUNE_SITE_PARSE_POLICY_H_
#define NCCL_TUNE_SITE_PARSE_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"

namespace nccl_tune::site {

struct CheckedPolicy {
  policy::SiteFile file;            // of use only without errors
  std::vector<base::Error> errors;  // every fault, by line; of text that is not TOML the first alone
  std::vector<facts::Note> notes;   // odd, but no fault: a variable that we do not know
};

// `name` is the file's name for messages: each error's `where` is "NAME:LINE" and its text names the key.
CheckedPolicy CheckPolicy(std::string_view text, std::string_view name);

// The policy, or the first error, which says how many there are.
base::Result<policy::SiteFile> ParsePolicy(std::string_view text, std::string_view name);

// The first of the errors, of which there is at least one, with how many there are.
base::Error FirstError(const std::vector<base::Error>& errors);

// Every key that a policy may hold, as docs/site-policy.md names it: "mode", "devices.include[].rate", "when[].nodes".
std::vector<std::string> PolicyKeys();

}  // namespace nccl_tune::site

#endif  // NCCL_TUNE_SITE_PARSE_POLICY_H_
