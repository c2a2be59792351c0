// SPDX-License-Identifier: Apache-2.0
#include "spank/task.h"

#include <cstdint>
#include <optional>

#include "core/env/plan.h"

namespace nccl_tune::spank {
namespace {

constexpr const char* kCarrier = "SLURM_SPANK__SLURM_SPANK_OPTION_nccl_tune_nccl_tune";  // of Slurm 22.05 to 26.05

std::optional<std::string> TaskVariable(spank_t spank, const std::string& name) {
  std::string value(4096, '\0');
  const auto got = spank_getenv(spank, name.c_str(), value.data(), static_cast<int>(value.size()));
  if (got == ESPANK_ENV_NOEXIST) return std::nullopt;
  value.resize(value.find('\0') == std::string::npos ? value.size() : value.find('\0'));
  return value;
}

void SetVariable(spank_t spank, const std::string& name, const std::string& value) {
  if (spank_setenv(spank, name.c_str(), value.c_str(), 1) != ESPANK_SUCCESS)
    slurm_error("nccl-tune: could not set %s", name.c_str());
}

}  // namespace

void UnsetVariable(spank_t spank, const std::string& name) {
  const auto done = spank_unsetenv(spank, name.c_str());
  if (done != ESPANK_SUCCESS) slurm_error("nccl-tune: could not unset %s", name.c_str());
}

void DropOuterValues(spank_t spank, const base::Environment& outer) {
  if (outer.empty()) return;
  for (const auto& [name, value] : outer) {
    if (TaskVariable(spank, name) == value) UnsetVariable(spank, name);
  }
  UnsetVariable(spank, std::string(env::kPlanVariable));
}

env::Amendment SetPlan(spank_t spank, const MadePlan& made, const base::Environment& before) {
  const env::PlanSummary& plan = made.summary;
  for (const auto& name : plan.removed) {
    if (TaskVariable(spank, name)) UnsetVariable(spank, name);
  }
  for (const auto& name : plan.forced) {
    const auto value = plan.set.find(name);
    if (value != plan.set.end()) SetVariable(spank, name, value->second);
  }
  // What has come up since user_init, by a container image say, is not ours, and what goes with it neither.
  const auto now = [&](const std::string& name) { return TaskVariable(spank, name); };
  auto amendment = env::AmendPlan(plan, before, now);
  for (const auto& [name, value] : amendment.set) SetVariable(spank, name, value);
  SetVariable(spank, std::string(env::kPlanVariable), env::AmendJson(made.plan.json, amendment));
  return amendment;
}

void HandOption(spank_t spank, const std::string& text, bool is_new) {
  const std::string value = text.empty() ? "auto" : text;
  const auto there = TaskVariable(spank, kCarrier);
  if (there ? *there != value : is_new) SetVariable(spank, kCarrier, value);
}

bool IsFirstOfNode(spank_t spank) {
  int task = 0;
  return spank_get_item(spank, S_TASK_ID, &task) == ESPANK_SUCCESS && task == 0;
}

bool IsFirstNode(spank_t spank) {
  std::uint32_t index = 0;
  return spank_get_item(spank, S_JOB_NODEID, &index) == ESPANK_SUCCESS && index == 0;
}

}  // namespace nccl_tune::spank
