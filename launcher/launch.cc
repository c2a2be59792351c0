// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/local_address.h"
#include "hw/read_node.h"
#include "launcher/apply_placement.h"
#include "launcher/bring.h"
#include "launcher/exchange.h"
#include "launcher/facts_of_step.h"
#include "launcher/numa_nodes.h"
#include "launcher/preflight.h"
#include "launcher/rank_table.h"
#include "launcher/rank_variables.h"
#include "launcher/say.h"
#include "launcher/shed.h"
#include "launcher/step_end.h"
#include "launcher/supervisor.h"
#include "pmix/session.h"
#include "pmix/step.h"
#include "site/slurm_conf.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using base::Lookup;
using base::Result;

constexpr const char* kErrorFile = "TORCHELASTIC_ERROR_FILE";

// Everything of one run that more than one function needs.
struct Run {
  const Options& options;
  const hw::Tree& root;
  pmix::Step step{};
  Own own{};
  Together together{};
  Environment environment{};  // PROGRAM's, but for what differs between the ranks of this task
  std::time_t started = 0;
};

// What all nodes agreed on, on this one.
void ApplyAgreed(Run* run) {
  if (run->together.agreement == Agreement{}) return;
  std::vector<facts::Note> notes;
  const auto ip = hw::ReadLiveIp(run->root, &notes);
  auto node = hw::ReadNode(run->root, ip, std::nullopt);
  if (!node.ok()) return;
  facts::Node facts = std::move(node).value();
  // Asks the site's DNS, so only where it is needed.
  if (run->together.agreement.fall_back) facts.address = hw::FindNodeAddress(hw::OwnHostName(), ip.interfaces);
  ApplyAgreement(run->together.agreement, facts, &run->environment);
}

// The variables of one rank of this task, over the common environment.
Result<Environment> RankEnvironment(const Run& run, std::uint32_t index, Additions* additions) {
  NCCL_TUNE_ASSIGN_OR_RETURN(facts, FactsOfStep(run.step, run.environment));
  facts.master_address = run.together.master_address;
  facts.master_port = run.together.master_port;
  facts.size = run.together.all_ranks;
  if (run.options.procs_per_node) {
    facts.rank = run.together.first_rank + index;
    facts.local_rank = index;
    facts.local_size = run.own.bringing.procs;
  }
  if (run.options.own_gpu) {
    facts.device = 0;
  } else if (run.options.bind == BindMode::kGpu && run.own.gpus > 0) {
    facts.device = static_cast<std::uint32_t>(facts.local_rank % run.own.gpus);
  }
  *additions = DecideAdditions(facts, run.environment);
  Environment environment = run.environment;
  Apply(*additions, &environment);
  if (index < run.own.placements.size()) {
    for (const auto& [name, value] : run.own.placements[index].gpu_set) environment.insert_or_assign(name, value);
  }
  if (run.options.procs_per_node) {
    // The PMIx server knows one rank here: several that took themselves for it would hang.
    for (auto one = environment.lower_bound("PMIX_"); one != environment.end() && one->first.starts_with("PMIX_");) {
      one = environment.erase(one);
    }
  }
  return environment;
}

ProgramStart StartOf(const Run& run, std::uint32_t index, Environment environment) {
  ProgramStart start{.program = run.options.program, .environment = std::move(environment)};
  if (index < run.own.placements.size()) {
    const Placement placement = run.own.placements[index];
    start.prepare = [placement]() -> base::Status {
      // A rank that runs elsewhere than it might is better than none.
      if (const auto applied = ApplyPlacement(placement); !applied.ok()) Say(applied.error().ToString());
      return base::Ok();
    };
  }
  const bool keeps_output = !run.options.log_dir.empty() || run.options.tag_output;
  start.pipe_output = keeps_output || isatty(STDOUT_FILENO) == 0;
  start.pipe_errors = keeps_output || isatty(STDERR_FILENO) == 0;
  start.own_group = isatty(STDIN_FILENO) == 0;
  start.no_input = index > 0;
  return start;
}

void PrintTable(const Run& run, const Additions& additions) {
  const Together& together = run.together;
  std::string text = "nccl-launch: " + std::to_string(together.all_ranks) +
                     (together.all_ranks == 1 ? " rank" : " ranks") + ", MASTER_ADDR " +
                     base::Printable(together.master_address) + ", MASTER_PORT " +
                     std::to_string(together.master_port) + "\n";
  if (!together.entries.empty()) text += RenderNodeTable(together.entries);
  text += "on " + base::Printable(run.step.node) + ":";
  for (const auto& [name, value] : run.environment) {
    if (name.starts_with("NCCL_") && !name.starts_with("NCCL_TUNE")) text += " " + name + "=" + base::Printable(value);
  }
  text += "\n";
  if (!additions.kept.empty()) {
    text += "kept, as the user has set them:";
    for (const std::string& one : additions.kept) text += " " + base::Printable(one);
    text += "\n";
  }
  if (additions.inherited) text += "replaced the rank variables of an outer step\n";
  for (const Placement& placement : run.own.placements) text += base::Printable(placement.reason) + "\n";
  std::cerr << text << std::flush;
}

// What is not wrong but hardly meant; said by rank 0.
void WarnOfHabits(const Run& run, const Additions& additions) {
  for (const std::string& one : additions.kept) {
    const std::string name = one.substr(0, one.find('='));
    if (run.together.all_ranks < 2 || (name != "RANK" && name != "LOCAL_RANK" && name != "WORLD_SIZE")) continue;
    Say("every rank has " + base::Printable(one) + ", as the user has set it: unset " + name +
        ", or the ranks will not meet");
  }
  const std::size_t local = run.options.procs_per_node ? run.own.bringing.procs : run.step.local_size;
  const bool placed = run.options.own_gpu || run.options.bind == BindMode::kGpu;
  if (placed && run.own.gpus > 0 && run.own.gpus < local && !run.own.own_gpus) {
    Say(std::to_string(local) + " ranks of a node share " + std::to_string(run.own.gpus) +
        (run.own.gpus == 1 ? " GPU" : " GPUs") + ": NCCL takes a GPU for one rank only (Duplicate GPU detected)");
  }
  const std::string& program = run.options.program.front();
  const bool torchrun =
      program.substr(program.rfind('/') + 1) == "torchrun" ||
      (run.options.program.size() > 2 && run.options.program[1] == "-m" &&
       (run.options.program[2] == "torch.distributed.run" || run.options.program[2] == "torch.distributed.launch"));
  if (torchrun && run.together.all_ranks > run.step.node_count) {
    Say("PROGRAM is torchrun, which starts ranks itself, once for each of the " +
        std::to_string(run.together.all_ranks) +
        " ranks here: start the script instead (nccl-launch -- python3 SCRIPT), or --procs-per-node N with one task a "
        "node");
  }
}

// Slurm sends a step's signals to all descendants of a task where it knows them by nothing else.
bool SlurmSignalsAll(const Run& run) {
  const std::string path = site::FindSlurmConf(run.root, Lookup(run.environment, "SLURM_CONF").value_or(""));
  if (path.empty()) return false;
  const auto settings = site::ReadSlurmSettings(run.root, path);
  if (!settings.ok()) return false;
  const auto kind = settings->find("proctracktype");
  return kind != settings->end() && kind->second == "proctrack/linuxproc";
}

Result<RankPlan> PlanRank(const Run& run, std::uint32_t index, Additions* additions) {
  NCCL_TUNE_ASSIGN_OR_RETURN(environment, RankEnvironment(run, index, additions));
  RankPlan plan{.rank = run.together.first_rank + index,
                .local_rank = run.options.procs_per_node ? index : run.step.local_rank};
  const std::string rank = std::to_string(plan.rank);
  const std::string folder = Lookup(run.environment, kReportFolder).value_or("");
  if (!folder.empty() && !environment.contains(kErrorFile)) {
    constexpr mode_t kMode = 0777;  // less the umask
    mkdir(folder.c_str(), kMode);
    plan.error_file = folder + "/error-" + run.step.job + "." + run.step.step + "-" + rank + ".json";
    environment.insert_or_assign(kErrorFile, plan.error_file);
  }
  if (run.options.tag_output) plan.tag = "[rank " + rank + "] ";
  if (!run.options.log_dir.empty()) {
    NCCL_TUNE_ASSIGN_OR_RETURN(
        log, LogFile::Create(run.options.log_dir, LogName(plan.rank, run.together.all_ranks),
                             "# rank " + rank + " of " + std::to_string(run.together.all_ranks) + " on " +
                                 run.step.node + ", job " + run.step.job + "." + run.step.step));
    plan.log = std::make_shared<LogFile>(std::move(log));
  }
  plan.start = StartOf(run, index, std::move(environment));
  return plan;
}

// Rank 0's supervisor prints and keeps it.
void Report(const Run& run, Failure failure) {
  failure.job = run.step.job;
  failure.step = run.step.step;
  failure.nodes = run.step.node_count;
  failure.ranks = run.together.all_ranks;
  failure.program = run.options.program;
  failure.started = run.started;
  failure.ended = std::time(nullptr);
  failure.differences = run.together.lines;
  const auto facts = FactsOfStep(run.step, run.environment);
  const bool logged = failure.first && !run.options.log_dir.empty();
  const std::string log = logged ? run.options.log_dir + "/" + LogName(failure.first->rank, failure.ranks) : "";
  ReportFailure(failure, log, Lookup(run.environment, kReportFolder).value_or(""), run.options.requeue_on,
                facts.ok() ? facts->restart_count : 0);
}

Result<Supervision> PlanSupervision(const Run& run) {
  Supervision plan{.node = run.step.node,
                   .node_id = run.step.node_id,
                   .rank = run.together.first_rank,
                   .is_root = run.step.rank == 0,
                   .children = run.together.children,
                   .tasks = run.step.size,
                   .slurm_signals_all = SlurmSignalsAll(run)};
  plan.options = {.grace = run.options.grace, .timeout = run.options.timeout, .no_output = run.options.no_output};
  for (std::uint32_t index = 0; index < run.own.bringing.procs; ++index) {
    Additions additions;
    NCCL_TUNE_ASSIGN_OR_RETURN(rank, PlanRank(run, index, &additions));
    if (index == 0 && plan.is_root) WarnOfHabits(run, additions);
    if (index == 0 && plan.is_root && run.options.verbose) PrintTable(run, additions);
    plan.ranks.push_back(std::move(rank));
  }
  return plan;
}

// What is left once PMIx is closed: nothing of ours may fail any more without saying so.
int StartPrograms(Run* run, std::optional<Supervision> supervision, const SavedSignals& signals) {
  const auto start = Clock::now();
  run->started = std::time(nullptr);
  if (supervision) {
    run->together.entries.clear();
    run->together.entries.shrink_to_fit();
    supervision->report = [run](Failure failure) { Report(*run, std::move(failure)); };
    supervision->started = ShedMemory;
    supervision->kill_step = [run] { KillStep(run->step.job + "." + run->step.step); };
    EndAs(Supervise(std::move(*supervision), std::move(run->together.links), signals, start));
  }
  Additions additions;
  auto environment = RankEnvironment(*run, 0, &additions);
  if (!environment.ok()) return Fail(kOwnFailure, environment.error().ToString());
  if (run->options.verbose && run->step.rank == 0) PrintTable(*run, additions);
  if (run->own.port) run->own.port->claim.Release();  // PROGRAM's now
  RestoreSignals(signals);
  const StartFault fault = BecomeProgram(StartOf(*run, 0, std::move(environment).value()));
  return Fail(fault.status, fault.text);
}

// Between the fences and the start. On an Error the exchange is still open.
Result<std::optional<Supervision>> Prepare(pmix::Exchange& exchange, Run* run) {
  if (auto singletons = FindSingletons({.pmix_ranks = exchange.size(), .step_tasks = run->step.size}))
    return *singletons;
  NCCL_TUNE_ASSIGN_OR_RETURN(own, Bring(run->options, run->step, run->root, run->environment));
  run->own = std::move(own);
  if (run->own.port && !run->own.port->warning.empty()) Say(run->own.port->warning);
  NCCL_TUNE_ASSIGN_OR_RETURN(together, ComeTogether(exchange, run->own.bringing));
  run->together = std::move(together);
  for (const std::string& line : run->together.lines) {
    if (run->options.mode != Mode::kCheck || line != kStopped) Say(line);
  }
  if (run->together.status != 0) return std::optional<Supervision>();
  ApplyAgreed(run);
  if (!run->own.bringing.supervised) return std::optional<Supervision>();
  NCCL_TUNE_ASSIGN_OR_RETURN(supervision, PlanSupervision(*run));
  return std::optional<Supervision>(std::move(supervision));
}

int EndCheck(const Run& run) {
  if (run.step.rank == 0) {
    std::cerr << RenderNodeTable(run.together.entries);
    Say(std::to_string(run.together.entries.size()) + " nodes, " + std::to_string(run.together.all_ranks) +
        " ranks: " + (run.together.lines.empty() ? "they fit together" : "see above"));
  }
  return run.together.status;
}

// PMIx and its libraries end the process themselves where they get no descriptor.
std::optional<std::string> FindLowLimit() {
  constexpr rlim_t kFewest = 24;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kFewest) return std::nullopt;
  return "only " + std::to_string(limit.rlim_cur) + " open files are allowed (ulimit -n), at least " +
         std::to_string(kFewest) + " are needed";
}

void SetHere(const std::optional<std::pair<std::string, std::string>>& setting) {
  if (setting) setenv(setting->first.c_str(), setting->second.c_str(), 1);
}

}  // namespace

int Fail(int code, const std::string& text) {
  Say(text);
  return code;
}

int FailOnce(int code, const Environment& environment, const std::string& text) {
  const auto rank = base::ParseInteger<std::uint32_t>(Lookup(environment, "SLURM_PROCID").value_or("0"));
  const auto count = base::ParseInteger<std::uint32_t>(Lookup(environment, "SLURM_STEP_NUM_TASKS").value_or(""));
  // Where the variable is wrong there may be no task 0.
  if (rank.ok() && *rank != 0 && (!count.ok() || *rank < *count)) return code;
  return Fail(code, text);
}

int Launch(const Options& options, const Environment& environment) {
  const SavedSignals signals = SaveSignals();
  IgnoreFileSize();
  if (const auto few = FindLowLimit()) return FailOnce(kOwnFailure, environment, *few);
  auto step = RequireStep(environment);
  if (!step.ok()) return FailOnce(kOwnFailure, environment, step.error().ToString());
  const auto root = hw::DirectoryTree::Open("/");
  if (!root.ok()) return FailOnce(kOwnFailure, environment, root.error().ToString());
  Run run{.options = options, .root = **root, .step = *step, .environment = environment};
  SetHere(QuietPlugins(environment));
  if (const auto store = pmix::StoreSetting(environment)) {
    SetHere(store);
    run.environment.insert_or_assign(store->first, store->second);
  }
  auto session = pmix::Session::Init(environment);
  if (!session.ok()) return Fail(kOwnFailure, session.error().ToString());
  auto supervision = Prepare(**session, &run);
  if (!supervision.ok()) {
    // What is wrong everywhere is said by rank 0, whose abort ends the others meanwhile.
    constexpr useconds_t kMoment = 300'000;
    if (run.step.rank != 0) usleep(kMoment);
    const int code = Fail(kOwnFailure, run.step.node + ": " + supervision.error().ToString());
    (*session)->Abort(code);
    return code;
  }
  if (const auto closed = (*session)->Finalize(); !closed.ok()) return Fail(kOwnFailure, closed.error().ToString());
  session = base::Error{};
  if (options.mode == Mode::kCheck) return EndCheck(run);
  if (run.together.status != 0) return run.together.status;
  return StartPrograms(&run, std::move(supervision).value(), signals);
}

}  // namespace nccl_tune::launcher
