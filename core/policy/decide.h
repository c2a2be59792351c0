// SPDX-License-Identifier: Apache-2.0
//
// Facts in, decisions out. Pure: the same facts give the same bytes, whatever the clock, the environment or the order
// of the calls. docs/rules.md is made from this table.
#ifndef NCCL_TUNE_CORE_POLICY_DECIDE_H_
#define NCCL_TUNE_CORE_POLICY_DECIDE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/nccl_version.h"
#include "core/policy/decision.h"
#include "core/policy/situation.h"

namespace nccl_tune::policy {

// One row of the rules table: which variable, by which rule, and where the fact behind the rule is stated.
struct Rule {
  std::string_view variable;
  std::string_view summary;
  // Variables that this one was computed for, with commas between: where the user has set one of them otherwise, or it
  // is left unset for the user's sake, this one stays unset.
  std::string_view follows;
  std::string_view opposites;  // with commas between: where the user has set one, this one stays unset
  nccl::NcclVersion since;     // NCCL ignores it before; 0.0.0 for other libraries' variables
  std::string_view source;
  Decision (*decide)(const Situation&);
};

// Whether `rule` follows `variable`.
bool Follows(const Rule& rule, std::string_view variable);

// Every rule, in the order in which a plan lists its variables. A rule stands after those that it follows.
std::span<const Rule> Rules();

// A variable that users expect here and that is never set by a rule.
struct LeftAlone {
  std::string_view variables;
  std::string_view why;
};
std::span<const LeftAlone> VariablesLeftAlone();

// The names of a list with commas between.
std::vector<std::string> SplitNames(std::string_view names);

// One decision a rule.
std::vector<Decision> Decide(const Situation& situation);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_DECIDE_H_
