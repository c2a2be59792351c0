// SPDX-License-Identifier: Apache-2.0
//
// The C edge to Slurm: every callback is one line through one guard. Decides nothing; nothing here can drain a node,
// and nothing but mode strict fails a job: on a node every callback returns success.
//
// Where each callback runs (Slurm 22.05 to 26.05): init in srun, sbatch, salloc, slurmd and slurmstepd; local_user_init
// in srun before the launch; user_init in slurmstepd with the user's effective id, before the tasks are forked;
// task_init in each task, after the fork.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/result.h"
#include "core/env/amend_plan.h"
#include "core/env/plan.h"
#include "hw/local_address.h"
#include "site/arguments.h"
#include "site/mode.h"
#include "spank/node_plan.h"
#include "spank/report_collector.h"
#include "spank/report_groups.h"
#include "spank/report_protocol.h"
#include "spank/slurm.h"
#include "spank/task.h"

namespace nccl_tune::spank {
namespace {

using site::Arguments;
using site::ParseMode;

constexpr const char* kBroken = "the plugin failed, see the node's log";
constexpr int kStrictStatus = 78;  // EX_CONFIG: what a task ends with in mode strict

// The one object of state. Made in init, filled in user_init, read in task_init (a fork copies it).
struct Context {
  bool has_begun = false;    // Init has run
  bool was_in_srun = false;  // and the hooks below, each once
  bool was_on_node = false;
  bool was_in_task = false;
  std::optional<Mode> option;  // --nccl-tune, when given
  std::string option_text;     // its value
  Arguments arguments{.site_default = {}, .policy = UsualPolicy()};
  std::optional<MadePlan> plan;
  bool strict = false;         // once the mode is known
  std::string fault;           // strict: why no task of this node shall run; empty: nothing
  base::Environment before;    // the job's environment, which it was made from, without `outer`
  base::Environment outer;     // what a plan of an outer step had set
  bool has_collector = false;  // its variable is in the job's environment
};

Context& TheContext() {
  static Context context;
  return context;
}

// Nothing may leave a callback: an exception would abort srun, or leave the node's step hanging.
template <typename Body>
int Guard(const char* where, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    slurm_error("nccl-tune: %s: %s; what is not done by now is left out", where, e.what());
  } catch (...) {
    slurm_error("nccl-tune: %s: unknown exception; what is not done by now is left out", where);
  }
  return 0;
}

bool InDaemon(spank_t) {
  const auto context = spank_context();
  return context == S_CTX_SLURMD || context == S_CTX_JOB_SCRIPT;
}

// A newer NCCL may know such a variable, so that it is taken.
void WarnOfUnknown(const Mode& mode) {
  for (const auto& line : site::UnknownVariables(mode)) slurm_spank_log("nccl-tune: %s", base::Printable(line).c_str());
}

// Slurm may call this twice for one option (up to 23.11): it only stores. In srun, sbatch and salloc a bad value ends
// the command; on a node nothing does.
int TakeOption(const char* text, bool remote) {
  const auto mode = ParseMode(text == nullptr ? "" : text);
  if (mode.ok()) {
    if (spank_context() == S_CTX_ALLOCATOR && TheContext().option != *mode) WarnOfUnknown(*mode);
    TheContext().option = *mode;
    TheContext().option_text = text == nullptr ? "" : text;
    return 0;
  }
  slurm_error("nccl-tune: %s", mode.error().ToString().c_str());
  if (!remote) return -1;
  TheContext().option = Mode{};
  return 0;
}

int OnOption(int, const char* text, int remote) {
  return Guard("option", [&] { return TakeOption(text, remote != 0); });
}

int Init(spank_t spank, int argc, char** argv) {
  // Slurm keeps pointers into this for as long as the plugin is loaded.
  static std::array<char, 10> name = {"nccl-tune"};
  static std::array<char, 10> info = {"[ITEM...]"};
  static std::array<char, 224> usage = {
      "nccl-tune: set NCCL's network variables on each node by its own hardware; ITEM: auto (default), off, explain, "
      "dry-run, strict, mpi, profile=NAME, set=NAME:VALUE, unset=NAME"};
  // A second line of plugstack.conf that names this file: its hooks run once more in this process. The first line
  // counts.
  if (TheContext().has_begun) return 0;
  static spank_option option = {name.data(), info.data(), usage.data(), 2, 0, OnOption};
  if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
    slurm_error("nccl-tune: --nccl-tune could not be registered");
  if (InDaemon(spank)) return 0;
  TheContext().has_begun = true;
  for (int i = 0; i < argc; ++i) {
    const auto taken = site::TakeArgument(argv[i], &TheContext().arguments);
    if (!taken.ok()) slurm_error("nccl-tune: plugstack.conf: %s; ignoring it", taken.error().ToString().c_str());
  }
  return 0;
}

base::Environment JobEnvironment(spank_t spank) {
  char** entries = nullptr;
  if (spank_get_item(spank, S_JOB_ENV, &entries) != ESPANK_SUCCESS || entries == nullptr) return {};
  return base::CopyEnvironment(entries);
}

// The option, else the user's NCCL_TUNE; nothing when the job says nothing.
std::optional<Mode> ModeOfJob(const base::Environment& user) {
  const Context& context = TheContext();
  if (context.option) return *context.option;
  const auto wish = user.find("NCCL_TUNE");
  if (wish == user.end() || wish->second.empty()) return std::nullopt;
  const auto mode = ParseMode(wish->second, "NCCL_TUNE");
  if (mode.ok()) return *mode;
  slurm_spank_log("nccl-tune: %s: %s; leaving this step untuned", base::Printable(hw::OwnHostName()).c_str(),
                  mode.error().ToString().c_str());
  return Mode{};
}

// Whether srun has put a place of ours into the variable; anything else in it is the user's.
bool IsPlace(const char* text) { return text != nullptr && ParseCollectorPlace(text).ok(); }

// In srun. Nodes that explain themselves do it in one place, where those with one plan share one table.
int LocalUserInit(spank_t spank) {
  if (std::exchange(TheContext().was_in_srun, true)) return 0;
  const std::string variable(kCollectorVariable);
  if (IsPlace(getenv(variable.c_str()))) unsetenv(variable.c_str());  // of an outer srun
  auto user = JobEnvironment(spank);                                  // with what --export adds
  if (user.empty()) user = base::CopyEnvironment(environ);
  const auto wish = base::Lookup(user, "NCCL_TUNE");
  std::optional<Mode> mode = TheContext().option;
  if (!mode && wish && ParseMode(*wish).ok()) mode = *ParseMode(*wish);
  if (mode) WarnOfUnknown(*mode);
  if (!mode.value_or(TheContext().arguments.site_default).explain) return 0;
  std::uint32_t nodes = 0;
  if (spank_get_item(spank, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS || nodes < 2) return 0;
  const auto place = StartCollector(static_cast<int>(nodes));
  if (place.ok())
    setenv(variable.c_str(), place->c_str(), 1);
  else  // each node prints its own
    slurm_debug("nccl-tune: %s", place.error().ToString().c_str());
  return 0;
}

void LogLines(std::string_view text, const std::string& prefix = "") {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    slurm_spank_log("%s%s", prefix.c_str(), std::string(text.substr(0, end)).c_str());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// What a plan of an outer step had set, by the job's environment.
base::Environment OuterValues(const base::Environment& user) {
  const auto text = user.find(env::kPlanVariable);
  if (text == user.end()) return {};
  auto outer = env::ParsePlan(text->second);
  if (!outer.ok()) return {};
  auto set = std::move(outer).value().set;
  std::erase_if(set, [](const auto& entry) { return !env::IsTunable(entry.first); });
  return set;
}

// The step goes on without a plan; in mode strict it does not.
void TellFailure(const base::Error& error, const Wish& wish) {
  const std::string what = error.ToString();
  const std::string node = base::Printable(hw::OwnHostName());
  if (wish.mode.value_or(wish.fallback).strict) {
    TheContext().fault = what;
  } else if (wish.mode.value_or(wish.fallback).Active()) {
    slurm_spank_log("nccl-tune: %s: %s; this node goes on with NCCL's own defaults", node.c_str(), what.c_str());
  } else {  // a job that says nothing hears nothing
    slurm_info("nccl-tune: %s: %s; nothing is set", node.c_str(), what.c_str());
  }
}

// For the user once a step, for administrators in each node's log.
void TellPlan(spank_t spank, const MadePlan& made) {
  const NodePlan& plan = made.plan;
  const std::string node = base::Printable(plan.node);
  for (const auto& line : plan.site_warnings) slurm_info("nccl-tune: %s: %s", node.c_str(), line.c_str());
  const bool first = IsFirstNode(spank);
  const bool shown = plan.mode.explain || !plan.fault.empty();  // where they stand as well
  for (const auto& line : plan.warnings) {
    if (first && !shown)
      slurm_spank_log("nccl-tune: %s: %s", node.c_str(), line.c_str());
    else
      slurm_info("nccl-tune: %s: %s", node.c_str(), line.c_str());
  }
  if (!plan.mode.Active()) return;
  if (!made.is_reported && !plan.explanation.empty())
    LogLines(GroupReports({{.node = plan.node, .key = "", .text = plan.explanation}}));
  std::string values;
  for (const auto& [name, value] : made.summary.set) values += " " + name + "=" + value;
  slurm_info("nccl-tune: %s: %s%s", node.c_str(), plan.mode.set ? "set" : "would set",
             values.empty() ? " nothing" : base::Printable(values).c_str());
  slurm_debug("nccl-tune: %s: %s", node.c_str(), plan.json.c_str());
}

int UserInit(spank_t spank) {
  Context& context = TheContext();
  if (std::exchange(context.was_on_node, true)) return 0;
  context.strict = context.option && context.option->strict;
  if (context.strict) context.fault = kBroken;  // stays when what follows ends in an exception
  const auto user = JobEnvironment(spank);
  const std::string collector = base::Lookup(user, kCollectorVariable).value_or("");
  context.has_collector = IsPlace(collector.c_str());
  const char* slurm_conf = getenv("SLURM_CONF");  // of slurmstepd: the job's own would let it choose its features
  const Wish wish{.mode = ModeOfJob(user),
                  .fallback = context.arguments.site_default,
                  .policy = context.arguments.policy,
                  .slurm_conf = slurm_conf == nullptr ? "" : slurm_conf,
                  .collector = context.has_collector ? collector : ""};
  context.strict = wish.mode.value_or(wish.fallback).strict;
  if (context.strict) context.fault = kBroken;
  // A step inside a tuned one starts from what the user has set, whatever comes of it here: the outer step's values are
  // those of the node that its script runs on.
  context.outer = OuterValues(user);
  // Without a wish only a site's policy can make this step one of ours, and only where the site has said so.
  const bool asked = wish.mode ? wish.mode->Active() : wish.fallback.Active();
  if (!asked && (wish.mode || !context.arguments.default_by_policy)) return 0;
  auto made = MakeNodePlan(user, wish, context.arguments.deadline);
  if (!made.ok()) {
    TellFailure(made.error(), wish);
    return 0;
  }
  TellPlan(spank, *made);
  context.fault = made->plan.fault;
  if (!made->plan.mode.set) return 0;
  context.plan = *std::move(made);
  context.before = user;
  std::erase_if(context.before, [&](const auto& one) { return base::Lookup(context.outer, one.first) == one.second; });
  return 0;
}

// Of all ways to end a step that Slurm has, the one that neither drains the node nor requeues the job.
[[noreturn]] void EndTask(spank_t spank, const std::string& fault) {
  if (IsFirstOfNode(spank)) {
    const std::string prefix = "nccl-tune: " + base::Printable(hw::OwnHostName()) + ": strict: ";
    LogLines(fault, prefix);
    constexpr std::uint32_t kBatchScript = 0xfffffffb;  // SLURM_BATCH_SCRIPT of slurm.h: one node, no srun
    std::uint32_t step = 0;
    const bool is_batch = spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS && step == kBatchScript;
    slurm_spank_log("%sits tasks end with status %d%s", prefix.c_str(), kStrictStatus,
                    is_batch ? "" : "; those of other nodes only with srun -K");
  }
  _exit(kStrictStatus);
}

int TaskInit(spank_t spank) {
  Context& context = TheContext();
  if (std::exchange(context.was_in_task, true)) return 0;
  if (!context.fault.empty()) EndTask(spank, context.fault);
  if (context.has_collector) UnsetVariable(spank, std::string(kCollectorVariable));
  DropOuterValues(spank, context.outer);
  if (context.option) HandOption(spank, context.option_text, context.plan.has_value());
  if (!context.plan) return 0;
  const std::string since = env::DescribeAmendment(SetPlan(spank, *context.plan, context.before));
  if (context.plan->plan.mode.explain && !since.empty() && IsFirstNode(spank) && IsFirstOfNode(spank))
    slurm_spank_log("nccl-tune: %s: %s", base::Printable(context.plan->plan.node).c_str(), since.c_str());
  return 0;
}

// After an exception nobody knows what the task would run with: in mode strict it does not.
int GuardTaskInit(spank_t spank) noexcept {
  bool done = false;
  Guard("task_init", [&] {
    TaskInit(spank);
    done = true;
    return 0;
  });
  if (done) return 0;
  return Guard("task_init", [&] {
    if (TheContext().strict) EndTask(spank, kBroken);
    return 0;
  });
}

}  // namespace
}  // namespace nccl_tune::spank

extern "C" {

int slurm_spank_init(spank_t spank, int argc, char** argv) {
  return nccl_tune::spank::Guard("init", [&] { return nccl_tune::spank::Init(spank, argc, argv); });
}

int slurm_spank_local_user_init(spank_t spank, int, char**) {
  return nccl_tune::spank::Guard("local_user_init", [&] { return nccl_tune::spank::LocalUserInit(spank); });
}

int slurm_spank_user_init(spank_t spank, int, char**) {
  return nccl_tune::spank::Guard("user_init", [&] { return nccl_tune::spank::UserInit(spank); });
}

int slurm_spank_task_init(spank_t spank, int, char**) { return nccl_tune::spank::GuardTaskInit(spank); }

}  // extern "C"
