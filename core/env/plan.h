// SPDX-License-Identifier: Apache-2.0
//
// Decisions and the user's environment in, plan out: what is set, what the user has set already and keeps, what stays
// unset. Also the compact form that travels in NCCL_TUNE_PLAN (docs/formats.md).
//
// The user's value always wins. A variable counts as ours, and may be computed again, only when NCCL_TUNE_PLAN of an
// outer step records exactly that value.
#ifndef NCCL_TUNE_CORE_ENV_PLAN_H_
#define NCCL_TUNE_CORE_ENV_PLAN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "core/nccl/conf_file.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/decision.h"
#include "core/policy/situation.h"

namespace nccl_tune::env {

using base::Environment;

inline constexpr std::string_view kPlanVariable = "NCCL_TUNE_PLAN";
inline constexpr std::size_t kPlanLimit = 8 << 10;  // bytes of NCCL_TUNE_PLAN

enum class Action {
  kSet,      // we set it
  kKeep,     // the user has set it
  kUnset,    // nobody has, and it is right that way
  kYielded,  // we would, but something that the user set rules it out; `yielded_to` says what
};

struct Setting {
  policy::Decision decision;
  Action action = Action::kUnset;
  nccl::NcclVersion since;  // first NCCL that reads it; 0.0.0 for variables of other libraries
  std::string user_value;   // with kKeep
  // With kKeep "environment" or NCCL's file and line: "/etc/nccl.conf:3". With kSet the line of the site's policy,
  // where that set it; else empty.
  std::string origin;
  std::string yielded_to;  // with kYielded, one clause
};

struct PlanPort {
  std::string hca;
  int port = 0;
  std::string link;  // "Ethernet" or "InfiniBand"
  std::optional<double> gbps;
  std::optional<std::string> netdev;
  std::optional<int> gid;

  bool operator==(const PlanPort&) const = default;
};

struct Plan {
  std::string node;  // host name; empty: not known
  std::vector<Setting> settings;
  std::vector<PlanPort> ports;
  std::optional<std::string> interface;  // bootstrap
  std::optional<std::string> address;    // its first routable address
  Environment user;  // what the user and NCCL's files have set, without what an outer step of ours did
  // What the user asked for by an option: these of what is set go over what is there, and these are taken away.
  std::set<std::string> forced;
  std::set<std::string> removed;
};

// `user`: what NCCL would see without us, from the environment and from its files (core/nccl/conf_file.h).
Plan MakePlan(const std::string& node, const policy::Situation& situation, const nccl::SourcedEnvironment& user);

// What NCCL sees in the end: the user's settings and what the plan sets.
Environment FinalValues(const Plan& plan);

// NAME to value of what the plan sets, without NCCL_TUNE_PLAN itself.
Environment ValuesOf(const Plan& plan);

// Whether a plan may set this variable at all. An outer step's plan travels in the environment, where anyone may write:
// nothing else is ever taken away on its word.
bool IsTunable(std::string_view variable);

// Of what a plan sets, the part that is still right where `now` tells a variable's value at this moment: not what has a
// value by now, nor what was computed together with another value of such a variable, nor what an opposite rules out.
// `kept`: what the user had set when the plan was made. The plan knew it, so it speaks against nothing.
using LookupNow = std::function<std::optional<std::string>(const std::string& name)>;
Environment StillRight(const Environment& set, const Environment& kept, const LookupNow& now);

// At most kPlanLimit bytes: reasons are dropped first, then what the user has set. Fails (kInternal) when the values
// that we set are longer.
base::Result<std::string> PlanToJson(const Plan& plan);

// What NCCL_TUNE_PLAN holds. Unknown members are skipped.
struct PlanSummary {
  std::string node;
  Environment set;
  std::set<std::string> forced;   // of `set`: over what is there
  std::set<std::string> removed;  // taken away
  Environment kept;
  std::vector<PlanPort> ports;
  std::optional<std::string> interface;
  std::optional<std::string> address;
};
base::Result<PlanSummary> ParsePlan(std::string_view text);

}  // namespace nccl_tune::env

#endif  // NCCL_TUNE_CORE_ENV_PLAN_H_
