// SPDX-License-Identifier: Apache-2.0
#include "launcher/bring.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/parse_number.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"
#include "launcher/child.h"
#include "launcher/facts_of_step.h"
#include "launcher/node_view.h"
#include "launcher/rank_list.h"
#include "launcher/read_entry.h"
#include "launcher/rendezvous.h"
#include "launcher/sockets.h"
#include "launcher/visible_gpus.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Lookup;
using base::Result;
using base::Status;

constexpr const char* kRightLine = "Start it with: srun --mpi=pmix nccl-launch [options] -- PROGRAM ARGS";

// The interfaces of this machine, where something needs them.
facts::Node ReadLiveNode(const hw::Tree& root) {
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadLiveIp(root, &notes);
  auto node = hw::ReadNode(root, ip, std::nullopt);
  return node.ok() ? std::move(node).value() : facts::Node{};
}

Bind BindOf(BindMode mode) {
  return mode == BindMode::kGpu ? Bind::kGpu : mode == BindMode::kNuma ? Bind::kNuma : Bind::kNone;
}

// Fills placements and the number of ranks, where the options ask for something that needs the node's hardware.
Status Place(const Options& options, const pmix::Step& step, const hw::Tree& root, const Environment& environment,
             Own* own) {
  const bool per_gpu = options.procs_per_node == 0U;
  if (!per_gpu && options.bind == BindMode::kNone && !options.own_gpu) return base::Ok();
  const facts::Node node = ReadLiveNode(root);
  NCCL_TUNE_ASSIGN_OR_RETURN(gpus, FindVisibleGpus(environment, node));
  own->gpus = gpus.ids.size();
  own->own_gpus = SeesOwnGpusOnly(environment, gpus);
  if (per_gpu) {
    NCCL_TUNE_ASSIGN_OR_RETURN(count, RanksForGpus(gpus));
    own->bringing.procs = static_cast<std::uint32_t>(count);
  }
  if (options.bind == BindMode::kNone && !options.own_gpu) return base::Ok();
  NCCL_TUNE_ASSIGN_OR_RETURN(view, ReadNodeView(root, node, {}, environment));
  LocalRanks ranks{.count = static_cast<int>(own->bringing.procs)};
  if (!options.procs_per_node) {
    ranks = {.count = static_cast<int>(step.local_size),
             .only = static_cast<int>(step.local_rank),
             .own_cpus = HasOwnCpus(view),
             .own_gpus = SeesOwnGpusOnly(environment, gpus)};
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(placements,
                             PlaceRanks(view, {.bind = BindOf(options.bind), .own_gpu_only = options.own_gpu}, ranks));
  own->placements = std::move(placements);
  return base::Ok();
}

launcher::Preflight PreflightOf(const Options& options) {
  if (options.preflight == PreflightMode::kOff) return Preflight::kOff;
  return options.preflight == PreflightMode::kFail || options.mode == Mode::kCheck ? Preflight::kFail
                                                                                   : Preflight::kWarn;
}

}  // namespace

Result<pmix::Step> RequireStep(const Environment& environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(step, pmix::ReadStep(environment));
  if (!step) return Error{.code = Code::kNotFound, .what = "not a task of a Slurm step", .hint = kRightLine};
  const pmix::PmixCheck check = pmix::CheckPmix(environment, &*step);
  if (check.state == pmix::PmixState::kAbsent) {
    return Error{.code = Code::kNotFound, .what = "this step was started without --mpi=pmix", .hint = kRightLine};
  }
  if (check.state == pmix::PmixState::kInherited) {
    return Error{.code = Code::kForbidden,
                 .what = "this step was started without --mpi=pmix and has inherited an outer step's: " + check.why,
                 .hint = kRightLine};
  }
  return *step;
}

Result<std::vector<std::uint32_t>> TasksOfNodes(const Environment& environment, const pmix::Step& step) {
  const std::string text = Lookup(environment, "SLURM_STEP_TASKS_PER_NODE").value_or("");
  std::vector<std::uint32_t> tasks;
  if (step.node_count > step.size) {
    return Error{.code = Code::kInvalidInput,
                 .what = "names more nodes than the step has tasks",
                 .where = "SLURM_STEP_TASKS_PER_NODE",
                 .seen = text,
                 .expected = "at most " + std::to_string(step.size) + " nodes"};
  }
  for (std::uint32_t node = 0; node < step.node_count; ++node) {
    NCCL_TUNE_ASSIGN_OR_RETURN(count, pmix::TasksOnNode(text, node));
    tasks.push_back(count);
  }
  return tasks;
}

Result<std::vector<std::uint32_t>> RanksOfNode(const Environment& environment, const pmix::Step& step) {
  constexpr const char* kVariable = "SLURM_GTIDS";
  const auto text = Lookup(environment, kVariable);
  const Error wrong{
      .code = Code::kInvalidInput,
      .what = "does not list the tasks of this node",
      .where = kVariable,
      .seen = text.value_or(""),
      .expected = std::to_string(step.local_size) + " ranks, " + std::to_string(step.rank) + " among them",
      .hint = "Is the environment passed on (srun --export)?"};
  std::vector<std::uint32_t> ranks;
  std::string_view rest = text ? std::string_view(*text) : "";
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto rank = base::ParseInteger<std::uint32_t>(rest.substr(0, comma));
    if (!rank.ok()) return wrong;
    ranks.push_back(*rank);
    rest.remove_prefix(std::min(rest.size(), comma + 1));
  }
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() != step.local_size || !std::binary_search(ranks.begin(), ranks.end(), step.rank)) return wrong;
  return ranks;
}

std::string LinkAddress(const Environment& environment, const std::string& node) {
  const auto own = ListOwnAddresses();
  const std::string bootstrap = BootstrapAddress(environment, own, node);
  if (bootstrap != node) return bootstrap;
  for (const char* variable : {"SLURM_SRUN_COMM_HOST", "SLURM_LAUNCH_NODE_IPADDR"}) {
    const std::string source = SourceAddressTowards(Lookup(environment, variable).value_or(""));
    const bool usable =
        std::any_of(own.begin(), own.end(), [&](const auto& address) { return address.text == source; });
    if (usable) return source;
  }
  return own.empty() ? "127.0.0.1" : own.front().text;
}

Result<Own> Bring(const Options& options, const pmix::Step& step, const hw::Tree& root,
                  const Environment& environment) {
  if (options.procs_per_node && step.local_size != 1) {
    return Error{
        .code = Code::kInvalidInput,
        .what = std::to_string(step.local_size) + " tasks on one node, but each would start ranks for the node",
        .where = "--procs-per-node",
        .hint = "Start one task a node: srun --ntasks-per-node=1 --mpi=pmix nccl-launch --procs-per-node ..."};
  }
  Own own;
  Bringing& out = own.bringing;
  out.step = step;
  NCCL_TUNE_ASSIGN_OR_RETURN(tasks, TasksOfNodes(environment, step));
  NCCL_TUNE_ASSIGN_OR_RETURN(ranks, RanksOfNode(environment, step));
  out.tasks = std::move(tasks);
  out.node_ranks = std::move(ranks);
  out.procs = options.procs_per_node.value_or(1);
  out.procs_vary = options.procs_per_node == 0U;
  NCCL_TUNE_RETURN_IF_ERROR(Place(options, step, root, environment, &own));
  out.preflight = PreflightOf(options);
  out.least = options.verbose ? Severity::kNote : Severity::kWarn;
  out.supervised = !options.exec && options.mode == Mode::kLaunch;
  out.preflight_limit = options.preflight_limit;
  out.start_limit = options.start_limit;
  out.address = LinkAddress(environment, step.node);
  out.digest = SettingsOf(environment);
  if (!options.program.empty()) {
    out.program = options.program.front();
    out.exec_error = CheckProgram(out.program, environment);
  }
  if (step.rank == out.node_ranks.front() && out.preflight != Preflight::kOff) {
    std::vector<facts::Note> notes;
    out.entry = ReadOwnNode(root, hw::ReadLiveIp(root, &notes), step, environment).entry;
    if (out.procs > 1 && !out.procs_vary) {
      out.entry.ranks =
          std::to_string(step.rank * out.procs) + "-" + std::to_string(step.rank * out.procs + out.procs - 1);
    }
  }
  if (step.rank == 0) {
    NCCL_TUNE_ASSIGN_OR_RETURN(facts, FactsOfStep(step, environment));
    NCCL_TUNE_ASSIGN_OR_RETURN(
        port, FindMasterPort(facts, environment, root, getuid(), options.exec ? AtExec::kKept : AtExec::kClosed));
    out.master_port = port.port;
    out.master_address = BootstrapAddress(environment, ListOwnAddresses(), step.node);
    out.fallback_address = step.node;
    own.port = std::move(port);
  }
  return own;
}

}  // namespace nccl_tune::launcher
