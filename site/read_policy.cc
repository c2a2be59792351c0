// SPDX-License-Identifier: Apache-2.0
#include "site/read_policy.h"

#include <string>
#include <utility>

#include "base/result.h"
#include "site/document.h"
#include "site/parse_policy.h"

namespace nccl_tune::site {
namespace {

facts::Note Ignored(base::Error error, std::string_view path) {
  std::string where = error.where.empty() ? std::string(path) : std::move(error.where);
  if (!where.starts_with('/')) where.insert(0, "/");
  error.where.clear();
  return {.where = std::move(where),
          .what = "site policy ignored, detection alone decides: " + error.ToString(),
          .warns = true};
}

}  // namespace

policy::SiteFile ReadPolicy(const hw::Tree& tree, std::vector<facts::Note>* notes, std::string_view path) {
  const auto text = tree.ReadTrusted(path, kLargestPolicy);
  if (!text.ok()) {
    base::Error error = text.error();
    if (error.code == base::Code::kNotFound) return {};
    if (error.code == base::Code::kForbidden)
      error.hint = "The user of each job reads it: chmod a+r it, and a+x the folder.";
    notes->push_back(Ignored(std::move(error), path));
    return {};
  }
  CheckedPolicy checked = CheckPolicy(*text, path);
  if (!checked.errors.empty()) {
    notes->push_back(Ignored(FirstError(checked.errors), path));
    return {};
  }
  for (facts::Note& note : checked.notes) notes->push_back(std::move(note));
  return std::move(checked.file);
}

}  // namespace nccl_tune::site
