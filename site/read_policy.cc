// SPDX-License-Identifier: Apache-2.0
#include "site/read_policy.h"

#include <string>
#include <utility>

#include "base/result.h"
#include "site/document.h"
#include "site/parse_policy.h"

namespace nccl_tune::site {
namespace {

facts::Note Ignored(base::Error error) {
  std::string where = error.where.empty() ? std::string(kPolicyPath) : std::move(error.where);
  error.where.clear();
  return {.where = std::move(where), .what = std::string(kIgnored) + ", detection alone decides: " + error.ToString()};
}

}  // namespace

policy::SiteFile ReadPolicy(const hw::Tree& tree, std::vector<facts::Note>* notes) {
  const auto text = tree.Read(kPolicyPath, kLargestPolicy);
  if (!text.ok()) {
    if (text.error().code != base::Code::kNotFound) notes->push_back(Ignored(text.error()));
    return {};
  }
  CheckedPolicy checked = CheckPolicy(*text, kPolicyPath);
  if (!checked.errors.empty()) {
    notes->push_back(Ignored(FirstError(checked.errors)));
    return {};
  }
  for (facts::Note& note : checked.notes) notes->push_back(std::move(note));
  return std::move(checked.file);
}

}  // namespace nccl_tune::site
