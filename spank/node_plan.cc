// SPDX-License-Identifier: Apache-2.0
#include "spank/node_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "site/read_policy.h"
#include "spank/child.h"
#include "spank/report_sender.h"

namespace nccl_tune::spank {
namespace {

using base::Json;

// How long a node may take to tell srun, beside what detection may take. A firewall between them costs this once a
// step, and only where the user asked for an explanation.
constexpr std::chrono::milliseconds kReportTime{250};

// What the child writes: one JSON object, {"error"} or the plan.
std::string ToText(const NodePlan& plan, bool is_reported) {
  Json out;
  out["node"] = plan.node;
  out["set"] = plan.mode.set;
  out["explain"] = plan.mode.explain;
  out["plan"] = plan.json;
  out["warnings"] = plan.warnings;
  out["site_warnings"] = plan.site_warnings;
  out["explanation"] = is_reported ? "" : plan.explanation;
  out["reported"] = is_reported;
  out["fault"] = plan.fault;
  return base::DumpJson(out);
}

std::vector<std::string> LinesOf(const Json& json, const char* key) {
  std::vector<std::string> out;
  for (const Json& line : base::GetMember(json, key)) {
    if (line.is_string()) out.push_back(*line.get_ptr<const Json::string_t*>());
  }
  return out;
}

std::string DetectAsText(const env::Environment& user, const Wish& wish) {
  const auto got = DetectNodePlan(user, wish);
  if (!got.ok()) return base::DumpJson(Json{{"error", got.error().ToString()}});
  const bool tells = !got->explanation.empty() && !wish.collector.empty();
  const Report report{.node = got->node, .key = got->key, .text = got->explanation};
  return ToText(*got, tells && SendReport(wish.collector, report, kReportTime));
}

}  // namespace

base::Result<MadePlan> MakeNodePlan(const env::Environment& user, const Wish& wish,
                                    std::chrono::milliseconds deadline) {
  if (!wish.collector.empty()) deadline += kReportTime;
  auto text = RunInChild([&] { return DetectAsText(user, wish); }, deadline);
  if (!text.ok() && text.error().code == base::Code::kTimeout) {
    base::Error late = text.error();
    late.what +=
        ": to look at it takes longer than " + std::to_string(deadline.count()) + " ms (timeout_ms in plugstack.conf)";
    return late;
  }
  if (!text.ok()) return text.error();
  const auto json = base::ParseJson(*text);
  if (!json.ok()) return base::Error{.code = base::Code::kUnreadable, .what = "no answer that makes sense"};
  if (const auto error = base::GetString(*json, "error"))
    return base::Error{.code = base::Code::kUnreadable, .what = *error};
  MadePlan out;
  out.plan.node = base::GetString(*json, "node").value_or("");
  out.plan.mode.set = base::GetBool(*json, "set").value_or(false);
  out.plan.mode.explain = base::GetBool(*json, "explain").value_or(false);
  out.plan.json = base::GetString(*json, "plan").value_or("");
  out.plan.explanation = base::GetString(*json, "explanation").value_or("");
  out.plan.fault = base::GetString(*json, "fault").value_or("");
  out.is_reported = base::GetBool(*json, "reported").value_or(false);
  out.plan.warnings = LinesOf(*json, "warnings");
  out.plan.site_warnings = LinesOf(*json, "site_warnings");
  if (!out.plan.mode.Active()) return out;
  NCCL_TUNE_ASSIGN_OR_RETURN(summary, env::ParsePlan(out.plan.json));
  out.summary = std::move(summary);
  return out;
}

std::string UsualPolicy() { return "/" + std::string(site::kPolicyPath); }

}  // namespace nccl_tune::spank
