// SPDX-License-Identifier: Apache-2.0
//
// A plan for a reader: as text for 80 columns, as JSON, as lines for a shell or an NCCL conf file.
#ifndef NCCL_TUNE_REPORT_EXPLAIN_H_
#define NCCL_TUNE_REPORT_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/env/contradictions.h"
#include "core/env/plan.h"
#include "core/env/without_us.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/transports.h"

namespace nccl_tune::report {

struct Explanation {
  env::Plan plan;
  std::vector<policy::Transport> transports;
  std::vector<env::Contradiction> contradictions;
  env::WithoutUs without_us;
  std::string library;  // where the NCCL is whose version `without_us` speaks of; empty: that version is assumed
  std::vector<facts::Note> notes;
  std::vector<std::string> warnings;  // above all else: the tool is off here, the policy is broken
};

// `version`: of the NCCL that a job would load, or the one to assume.
Explanation Explain(const facts::Node& node, env::Plan plan, const nccl::NcclVersion& version);

// The line of NCCL's own file that gives a kept variable its value, "/etc/nccl.conf:3"; empty: no file does.
std::string FileOf(const env::Plan& plan, std::string_view variable);

// Everything: value, who set it, reason, evidence, what was rejected and why, versions, what the settings get wrong,
// what NCCL would do without us, and what could not be read.
std::string ExplainText(const Explanation& all);
std::string ExplainJson(const Explanation& all);

// A variable, its value and its reason each, and what the settings get wrong: what fits beside a job's own output.
// Every line starts with `prefix`, so that the lines of several nodes can be told apart however they mix.
std::string SummaryText(const Explanation& all, std::string_view prefix);

// NAME=VALUE lines of what the plan sets, and nothing else.
// shell: quoted where a shell would need it. conf: as NCCL reads /etc/nccl.conf. json: one object.
std::string EnvShell(const env::Environment& values);
std::string EnvConf(const env::Environment& values);
std::string EnvJson(const env::Environment& values);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_EXPLAIN_H_
