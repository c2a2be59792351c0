// SPDX-License-Identifier: Apache-2.0
#include "cli/check_policy.h"

#include "base/result.h"
#include "core/facts/node.h"
#include "report/policy_text.h"
#include "site/parse_policy.h"

namespace nccl_tune::cli {

CheckedText CheckPolicyText(std::string_view text, const std::string& file) {
  const site::CheckedPolicy checked = site::CheckPolicy(text, file);
  CheckedText out;
  for (const base::Error& error : checked.errors) out.faults += "nccl-tune: " + error.ToString() + "\n";
  for (const facts::Note& note : checked.notes) {
    out.faults += "nccl-tune: note: " + base::Printable(note.where) + ": " + note.what + "\n";
  }
  out.ok = checked.errors.empty();
  const std::string name = base::Printable(file);
  if (out.ok) {
    out.summary = name + ": no fault\n\n" + report::PolicyText(checked.file);
  } else {
    const std::size_t count = checked.errors.size();
    out.faults += "nccl-tune: " + name + ": " + std::to_string(count) + (count == 1 ? " fault" : " faults") +
                  "; this policy would be ignored\n";
  }
  return out;
}

}  // namespace nccl_tune::cli
