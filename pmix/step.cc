// SPDX-License-Identifier: Apache-2.0
#include "pmix/step.h"

#include <limits>

#include "base/parse_number.h"

namespace nccl_tune::pmix {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Lookup;
using base::Result;

Result<std::uint32_t> Number(const Environment& environment, const std::string& name) {
  const auto text = Lookup(environment, name);
  if (!text) {
    return Error{.code = Code::kNotFound,
                 .what = "not set, although this process is a task of a Slurm step",
                 .where = name,
                 .hint = "Is the environment passed on (srun --export)?"};
  }
  auto number = base::ParseInteger<std::uint32_t>(*text);
  if (number.ok()) return number;
  Error error = number.error();
  error.where = name;
  return error;
}

// "2(x3)" is three nodes of two tasks; "2" is one.
Result<std::pair<std::uint32_t, std::uint32_t>> ParseGroup(std::string_view group, std::string_view whole) {
  const Error malformed{.code = Code::kInvalidInput,
                        .what = "malformed",
                        .where = "SLURM_STEP_TASKS_PER_NODE",
                        .seen = std::string(whole),
                        .expected = "a list such as 2(x3),1"};
  std::uint32_t nodes = 1;
  const std::size_t open = group.find("(x");
  if (open != std::string_view::npos) {
    if (group.back() != ')') return malformed;
    const auto repeat = base::ParseInteger<std::uint32_t>(group.substr(open + 2, group.size() - open - 3));
    if (!repeat.ok() || *repeat == 0) return malformed;
    nodes = *repeat;
    group = group.substr(0, open);
  }
  const auto tasks = base::ParseInteger<std::uint32_t>(group);
  if (!tasks.ok()) return malformed;
  return std::pair(*tasks, nodes);
}

}  // namespace

Result<std::uint32_t> TasksOnNode(std::string_view tasks_per_node, std::uint32_t node_id) {
  std::string_view rest = tasks_per_node;
  std::uint64_t first = 0;
  while (true) {
    const std::size_t comma = rest.find(',');
    NCCL_TUNE_ASSIGN_OR_RETURN(group, ParseGroup(rest.substr(0, comma), tasks_per_node));
    const auto [tasks, nodes] = group;
    if (node_id < first + nodes) return tasks;
    first += nodes;
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return Error{.code = Code::kInvalidInput,
               .what = "names fewer nodes than this task's SLURM_NODEID " + std::to_string(node_id) + " needs",
               .where = "SLURM_STEP_TASKS_PER_NODE",
               .seen = std::string(tasks_per_node)};
}

Result<std::uint32_t> CountNodes(std::string_view tasks_per_node) {
  std::string_view rest = tasks_per_node;
  std::uint64_t count = 0;
  while (true) {
    const std::size_t comma = rest.find(',');
    NCCL_TUNE_ASSIGN_OR_RETURN(group, ParseGroup(rest.substr(0, comma), tasks_per_node));
    count += group.second;
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (count <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(count);
  return Error{.code = Code::kInvalidInput,
               .what = "names too many nodes",
               .where = "SLURM_STEP_TASKS_PER_NODE",
               .seen = std::string(tasks_per_node)};
}

Result<std::optional<Step>> ReadStep(const Environment& environment) {
  const auto job = Lookup(environment, "SLURM_JOB_ID");
  const auto step_id = Lookup(environment, "SLURM_STEP_ID");
  if (!job || !step_id || !Lookup(environment, "SLURM_PROCID")) return std::optional<Step>();
  Step step{.job = *job, .step = *step_id, .node = Lookup(environment, "SLURMD_NODENAME").value_or("")};
  NCCL_TUNE_ASSIGN_OR_RETURN(rank, Number(environment, "SLURM_PROCID"));
  NCCL_TUNE_ASSIGN_OR_RETURN(size, Number(environment, "SLURM_STEP_NUM_TASKS"));
  NCCL_TUNE_ASSIGN_OR_RETURN(local_rank, Number(environment, "SLURM_LOCALID"));
  NCCL_TUNE_ASSIGN_OR_RETURN(node_id, Number(environment, "SLURM_NODEID"));
  const std::string tasks_per_node = Lookup(environment, "SLURM_STEP_TASKS_PER_NODE").value_or("");
  NCCL_TUNE_ASSIGN_OR_RETURN(local_size, TasksOnNode(tasks_per_node, node_id));
  NCCL_TUNE_ASSIGN_OR_RETURN(node_count, CountNodes(tasks_per_node));
  step.rank = rank;
  step.size = size;
  step.local_rank = local_rank;
  step.node_id = node_id;
  step.node_count = node_count;
  step.local_size = local_size;
  return std::optional<Step>(std::move(step));
}

PmixCheck CheckPmix(const Environment& environment, const Step* step) {
  const auto space = Lookup(environment, "PMIX_NAMESPACE");
  if (!space || space->empty()) return {};
  const bool is_slurms = space->starts_with("slurm.pmix.");
  if (!is_slurms) return {.state = PmixState::kUsable};
  if (step == nullptr) {
    return {PmixState::kInherited, "PMIX_NAMESPACE is " + base::Printable(*space) + ", but this is no Slurm task"};
  }
  // A heterogeneous step's name space carries the leader's job id.
  const std::string leader = Lookup(environment, "SLURM_HET_JOB_ID").value_or(step->job);
  const std::string own = "slurm.pmix." + step->job + "." + step->step;
  const std::string het = "slurm.pmix." + leader + "." + step->step;
  if (*space != own && *space != het) {
    return {PmixState::kInherited,
            "PMIX_NAMESPACE is " + base::Printable(*space) + ", but this step's would be " + own};
  }
  const std::string rank = Lookup(environment, "PMIX_RANK").value_or("");
  if (rank != std::to_string(step->rank)) {
    return {PmixState::kInherited,
            "PMIX_RANK is \"" + base::Printable(rank) + "\", but SLURM_PROCID is " + std::to_string(step->rank)};
  }
  return {.state = PmixState::kUsable};
}

std::optional<std::pair<std::string, std::string>> StoreSetting(const Environment& environment) {
  const std::string stores = Lookup(environment, "PMIX_GDS_MODULE").value_or("");
  if (!stores.starts_with("ds") && stores.find(",ds") == std::string::npos) return std::nullopt;
  if (environment.contains("PMIX_MCA_gds")) return std::nullopt;
  return std::pair<std::string, std::string>("PMIX_MCA_gds", "hash");
}

}  // namespace nccl_tune::pmix
