// SPDX-License-Identifier: Apache-2.0
//
// The C edge to Slurm: every callback is one line through one guard. Decides nothing; nothing here can fail a job or
// drain a node: on a node every callback returns success.
//
// Where each callback runs (Slurm 22.05 to 26.05): init in srun, sbatch, salloc, slurmd and slurmstepd; user_init in
// slurmstepd with the user's effective id, before the tasks are forked; task_init in each task, after the fork.
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/parse_number.h"
#include "base/result.h"
#include "core/env/plan.h"
#include "hw/local_address.h"
#include "spank/mode.h"
#include "spank/node_plan.h"
#include "spank/slurm.h"

namespace nccl_tune::spank {
namespace {

// The one object of state. Made in init, filled in user_init, only read in task_init (a fork copies it).
struct Context {
  std::optional<Mode> option;          // --nccl-tune, when given
  Mode site_default;                   // default= in plugstack.conf; off as shipped
  bool default_by_policy = false;      // default=policy: the site's policy says what silent jobs get
  std::string policy = UsualPolicy();  // policy= in plugstack.conf
  std::chrono::milliseconds deadline{500};
  std::optional<NodePlan> plan;
  base::Environment outer;  // what a plan of an outer step had set
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
    slurm_error("nccl-tune: %s: %s; the job goes on without tuning", where, e.what());
  } catch (...) {
    slurm_error("nccl-tune: %s: unknown exception; the job goes on without tuning", where);
  }
  return 0;
}

bool InDaemon(spank_t) {
  const auto context = spank_context();
  return context == S_CTX_SLURMD || context == S_CTX_JOB_SCRIPT;
}

// Slurm may call this twice for one option (up to 23.11): it only stores. In srun, sbatch and salloc a bad value ends
// the command; on a node nothing does.
int TakeOption(const char* text, bool remote) {
  const auto mode = ParseMode(text == nullptr ? "" : text);
  if (mode.ok()) {
    TheContext().option = *mode;
    return 0;
  }
  slurm_error("nccl-tune: %s", mode.error().ToString().c_str());
  return remote ? 0 : -1;
}

extern "C" int OnOption(int, const char* text, int remote) {
  return Guard("option", [&] { return TakeOption(text, remote != 0); });
}

base::Status TakeArgument(std::string_view argument) {
  const auto equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  if (name == "default") {
    // No value means auto on a command line; a site's default is never guessed.
    if (value.empty()) {
      return base::Error{.code = base::Code::kInvalidInput,
                         .what = "default without a mode",
                         .seen = std::string(argument),
                         .expected = "default=off, auto, explain, dry-run, mpi or policy"};
    }
    if (value == "policy") {
      TheContext().default_by_policy = true;
      return base::Ok();
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(mode, ParseMode(value));
    TheContext().site_default = mode;
  } else if (name == "timeout_ms") {
    constexpr int kLongest = 10000;
    const auto number = base::ParseInt(value);
    if (!number.ok() || *number < 1 || *number > kLongest) {
      return base::Error{.code = base::Code::kInvalidInput,
                         .what = "bad timeout_ms",
                         .seen = std::string(value),
                         .expected = "1 to 10000"};
    }
    TheContext().deadline = std::chrono::milliseconds(*number);
  } else if (name == "policy") {
    if (!value.starts_with('/') || value.ends_with('/')) {
      return base::Error{.code = base::Code::kInvalidInput,
                         .what = "bad policy",
                         .seen = std::string(value),
                         .expected = "an absolute path of a file"};
    }
    TheContext().policy = value;
  } else {
    return base::Error{.code = base::Code::kInvalidInput,
                       .what = "unknown argument",
                       .seen = std::string(argument),
                       .expected = "default=MODE, policy=FILE or timeout_ms=NUMBER"};
  }
  return base::Ok();
}

int Init(spank_t spank, int argc, char** argv) {
  // Slurm keeps pointers into this for as long as the plugin is loaded.
  static std::array<char, 10> name = {"nccl-tune"};
  static std::array<char, 10> info = {"[MODE...]"};
  static std::array<char, 160> usage = {
      "nccl-tune: set NCCL's network variables on each node by its own hardware; MODE: auto (default), off, explain, "
      "dry-run, mpi, profile=NAME"};
  static spank_option option = {name.data(), info.data(), usage.data(), 2, 0, OnOption};
  if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
    slurm_error("nccl-tune: --nccl-tune could not be registered");
  if (InDaemon(spank)) return 0;
  for (int i = 0; i < argc; ++i) {
    const auto taken = TakeArgument(argv[i]);
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
  const auto mode = ParseMode(wish->second);
  if (mode.ok()) return *mode;
  slurm_spank_log("nccl-tune: %s: NCCL_TUNE=\"%s\" is no mode; leaving this step untuned",
                  base::Printable(hw::OwnHostName()).c_str(), base::Printable(wish->second).c_str());
  return Mode{};
}

void ShowExplanation(const NodePlan& plan, bool sets) {
  if (!sets) slurm_spank_log("nccl-tune: %s: dry run, nothing is set", base::Printable(plan.summary.node).c_str());
  std::string_view rest = plan.explanation;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    slurm_spank_log("%s", std::string(rest.substr(0, end)).c_str());
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
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

int UserInit(spank_t spank) {
  Context& context = TheContext();
  const auto user = JobEnvironment(spank);
  const char* slurm_conf = getenv("SLURM_CONF");  // of slurmstepd: the job's own would let it choose its features
  const Wish wish{.mode = ModeOfJob(user),
                  .fallback = context.site_default,
                  .policy = context.policy,
                  .slurm_conf = slurm_conf == nullptr ? "" : slurm_conf};
  // A step inside a tuned one starts from what the user has set: also when it says off, and when detection fails.
  if (context.option || wish.mode.value_or(wish.fallback).set) context.outer = OuterValues(user);
  // Without a wish only a site's policy can make this step one of ours, and only where the site has said so.
  const bool asked = wish.mode ? wish.mode->Active() : wish.fallback.Active();
  if (!asked && (wish.mode || !context.default_by_policy)) return 0;
  auto plan = MakeNodePlan(user, wish, context.deadline);
  if (!plan.ok()) {
    const std::string what = base::Printable(hw::OwnHostName()) + ": " + plan.error().ToString();
    if (asked)
      slurm_spank_log("nccl-tune: %s; this node goes on with NCCL's own defaults", what.c_str());
    else  // a job that says nothing hears nothing
      slurm_info("nccl-tune: %s; nothing is set", what.c_str());
    return 0;
  }
  const Mode mode = plan->mode;
  if (!plan->warning.empty()) slurm_info("nccl-tune: %s", plan->warning.c_str());
  if (!mode.Active()) return 0;
  if (mode.explain) ShowExplanation(*plan, mode.set);
  slurm_info("nccl-tune: %s: %s", mode.set ? "set" : "dry run", plan->json.c_str());
  if (mode.set) {
    if (context.outer.empty()) context.outer = OuterValues(user);
    context.plan = *std::move(plan);
  }
  return 0;
}

std::optional<std::string> TaskVariable(spank_t spank, const std::string& name) {
  std::string value(4096, '\0');
  const auto got = spank_getenv(spank, name.c_str(), value.data(), static_cast<int>(value.size()));
  if (got == ESPANK_ENV_NOEXIST) return std::nullopt;
  value.resize(value.find('\0') == std::string::npos ? value.size() : value.find('\0'));
  return value;
}

// Takes away what an outer step of ours had set and nobody has changed since.
void DropOuterValues(spank_t spank, const base::Environment& outer) {
  if (outer.empty()) return;
  for (const auto& [name, value] : outer) {
    if (TaskVariable(spank, name) == value && spank_unsetenv(spank, name.c_str()) != ESPANK_SUCCESS) {
      slurm_error("nccl-tune: could not unset %s", name.c_str());
    }
  }
  if (spank_unsetenv(spank, env::kPlanVariable.data()) != ESPANK_SUCCESS) {
    slurm_error("nccl-tune: could not unset %s", env::kPlanVariable.data());
  }
}

void SetVariable(spank_t spank, const char* name, const std::string& value) {
  if (spank_setenv(spank, name, value.c_str(), 1) != ESPANK_SUCCESS) slurm_error("nccl-tune: could not set %s", name);
}

// Memory only: this runs after a container plugin may have changed the file system under it.
int TaskInit(spank_t spank) {
  const Context& context = TheContext();
  DropOuterValues(spank, context.outer);
  if (!context.plan) return 0;
  // What is there by now was set since user_init, by a container image say: not ours, and what goes with it neither.
  const auto now = [&](const std::string& name) { return TaskVariable(spank, name); };
  for (const auto& [name, value] : env::StillRight(context.plan->summary.set, now)) {
    SetVariable(spank, name.c_str(), value);
  }
  SetVariable(spank, env::kPlanVariable.data(), context.plan->json);
  return 0;
}

}  // namespace
}  // namespace nccl_tune::spank

extern "C" {

int slurm_spank_init(spank_t spank, int argc, char** argv) {
  return nccl_tune::spank::Guard("init", [&] { return nccl_tune::spank::Init(spank, argc, argv); });
}

int slurm_spank_user_init(spank_t spank, int, char**) {
  return nccl_tune::spank::Guard("user_init", [&] { return nccl_tune::spank::UserInit(spank); });
}

int slurm_spank_task_init(spank_t spank, int, char**) {
  return nccl_tune::spank::Guard("task_init", [&] { return nccl_tune::spank::TaskInit(spank); });
}

}  // extern "C"
