// SPDX-License-Identifier: Apache-2.0
//
// What the policy says about one variable: a value or "leave it unset", always with a reason and with what it rests on.
#ifndef NCCL_TUNE_CORE_POLICY_DECISION_H_
#define NCCL_TUNE_CORE_POLICY_DECISION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nccl_tune::policy {

// A fact that a decision rests on, as the reader would find it: a path below the root (or the name of an interface) and
// the value there.
struct Evidence {
  std::string where;
  std::string value;
};

// Something that was considered and not taken.
struct Rejection {
  std::string what;
  std::string why;
};

struct Decision {
  std::string variable;
  std::optional<std::string> value;  // absent: leave unset
  std::string reason;                // one sentence, without full stop
  std::vector<Evidence> evidence;
  std::vector<Rejection> rejected;
  // Without a value: left unset as on most machines, for want of anything to decide on. A text for readers need not say
  // so.
  bool is_usual = false;
};

// Leaves the variable unset, for this reason; also where a rule begins that may yet find a value.
inline Decision LeaveUnset(std::string reason) {
  Decision out;
  out.reason = std::move(reason);
  return out;
}

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_DECISION_H_
