// SPDX-License-Identifier: Apache-2.0
//
// A plan for a reader: as text for 80 columns, as JSON, as lines for a shell or an NCCL conf file.
#ifndef NCCL_TUNE_REPORT_EXPLAIN_H_
#define NCCL_TUNE_REPORT_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/env/plan.h"
#include "core/facts/node.h"

namespace nccl_tune::report {

// Everything: value, reason, evidence, what was rejected and why, and what could not be read.
std::string ExplainText(const env::Plan& plan, const std::vector<facts::Note>& notes);
std::string ExplainJson(const env::Plan& plan, const std::vector<facts::Note>& notes);

// A variable, its value and its reason each: what fits beside a job's own output. Every line starts with `prefix`, so
// that the lines of several nodes can be told apart however they mix.
std::string SummaryText(const env::Plan& plan, std::string_view prefix);

// NAME=VALUE lines of what the plan sets, and nothing else.
// shell: quoted where a shell would need it. conf: as NCCL reads /etc/nccl.conf. json: one object.
std::string EnvShell(const env::Environment& values);
std::string EnvConf(const env::Environment& values);
std::string EnvJson(const env::Environment& values);

}  // namespace nccl_tune::report

#endif  // NCCL_TUNE_REPORT_EXPLAIN_H_
