// SPDX-License-Identifier: Apache-2.0
#include "spank/node_plan.h"

#include <utility>
#include <vector>

#include "core/facts/node.h"
#include "core/nccl/conf_file.h"
#include "core/nccl/nccl_version.h"
#include "core/policy/situation.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/local_address.h"
#include "hw/read_node.h"
#include "report/explain.h"
#include "spank/child.h"

namespace nccl_tune::spank {
namespace {

struct Detected {
  std::string json;
  std::string explanation;
};

base::Result<Detected> Detect(const env::Environment& user, bool explain) {
  NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open("/"));
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadLiveIp(*tree, &notes);
  const std::string name = hw::OwnHostName();
  NCCL_TUNE_ASSIGN_OR_RETURN(node, hw::ReadNode(*tree, ip, hw::FindNodeAddress(name, ip.interfaces)));
  auto plan = env::MakePlan(name, policy::Assess(node), nccl::MergeSettings(user, {}));
  NCCL_TUNE_ASSIGN_OR_RETURN(json, env::PlanToJson(plan));
  Detected out{.json = std::move(json), .explanation = {}};
  if (explain) {
    const auto all = report::Explain(node, std::move(plan), nccl::kAssumedVersion);
    out.explanation = report::SummaryText(all, "nccl-tune: " + base::Printable(name) + ": ");
  }
  return out;
}

// What the child writes: a mark, then the plan (one line) and the explanation, or the error.
constexpr char kGood = '+';
constexpr char kBad = '-';

std::string DetectAsText(const env::Environment& user, bool explain) {
  auto detected = Detect(user, explain);
  if (!detected.ok()) return kBad + detected.error().ToString();
  return kGood + detected->json + "\n" + detected->explanation;
}

}  // namespace

base::Result<NodePlan> MakeNodePlan(const env::Environment& user, bool explain, std::chrono::milliseconds deadline) {
  NCCL_TUNE_ASSIGN_OR_RETURN(text, RunInChild([&] { return DetectAsText(user, explain); }, deadline));
  if (!text.starts_with(kGood)) {
    return base::Error{.code = base::Code::kUnreadable, .what = text.empty() ? "empty answer" : text.substr(1)};
  }
  NodePlan out;
  const auto line_end = text.find('\n');
  out.json = text.substr(1, line_end == std::string::npos ? line_end : line_end - 1);
  if (line_end != std::string::npos) out.explanation = text.substr(line_end + 1);
  NCCL_TUNE_ASSIGN_OR_RETURN(summary, env::ParsePlan(out.json));
  out.summary = std::move(summary);
  return out;
}

}  // namespace nccl_tune::spank
