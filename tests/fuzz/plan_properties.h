// SPDX-License-Identifier: Apache-2.0
//
// What must hold of the plan of any node whatever, and of every text that is made of it.
#ifndef NCCL_TUNE_TESTS_FUZZ_PLAN_PROPERTIES_H_
#define NCCL_TUNE_TESTS_FUZZ_PLAN_PROPERTIES_H_

#include "base/environment.h"
#include "core/facts/node.h"

namespace nccl_tune::fuzz {

// Whether every text for a reader is made too, which takes ten times as long as the plan.
enum class Texts { kNone, kAll };

// Makes the plan for a user with this environment, twice, and looks at it from all sides.
void RequireSoundPlan(const facts::Node& node, const base::Environment& user, Texts texts);

}  // namespace nccl_tune::fuzz

#endif  // NCCL_TUNE_TESTS_FUZZ_PLAN_PROPERTIES_H_
