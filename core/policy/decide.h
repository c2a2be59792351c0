// SPDX-License-Identifier: Apache-2.0
//
// Facts in, decisions out. Pure: the same facts give the same bytes, whatever the clock, the environment or the order
// of the calls.
#ifndef NCCL_TUNE_CORE_POLICY_DECIDE_H_
#define NCCL_TUNE_CORE_POLICY_DECIDE_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/facts/node.h"
#include "core/policy/choose_bootstrap.h"
#include "core/policy/decision.h"
#include "core/policy/select_ports.h"

namespace nccl_tune::policy {

// All that the rules look at. Points into `node`.
struct Situation {
  const facts::Node* node = nullptr;
  PortSelection selection;
  Bootstrap bootstrap;
};

// One row of the rules table: which variable, by which rule, and where the fact behind the rule is stated.
struct Rule {
  std::string_view variable;
  std::string_view summary;
  std::string_view source;
  Decision (*decide)(const Situation&);
};

// Every rule, in the order in which a plan lists its variables.
std::span<const Rule> Rules();

Situation Assess(const facts::Node& node);
// One decision a rule.
std::vector<Decision> Decide(const Situation& situation);

}  // namespace nccl_tune::policy

#endif  // NCCL_TUNE_CORE_POLICY_DECIDE_H_
