// SPDX-License-Identifier: Apache-2.0
#include "bench/program.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/version.h"
#include "bench/backend.h"
#include "bench/backend_choice.h"
#include "bench/backend_loader.h"
#include "bench/benchmark.h"
#include "bench/debug_file.h"
#include "bench/ending.h"
#include "bench/host_memory.h"
#include "bench/host_name.h"
#include "bench/mpi_settings.h"
#include "bench/nccl_build.h"
#include "bench/observer.h"
#include "bench/options.h"
#include "bench/rail_files.h"
#include "bench/reporter.h"
#include "bench/search_program.h"
#include "bench/shown_environment.h"
#include "bench/signalled_end.h"
#include "bench/surroundings.h"
#include "bench/world.h"
#include "pmix/abort_step.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Result;

void Note(const World& world, const std::string& text) {
  if (world.rank == 0) std::cerr << "nccl-bench: " + text + "\n" << std::flush;
}

// For what is wrong in all tasks alike: task 0 says it for all.
int RefuseOnce(const Environment& environment, const Error& error) {
  const auto slurm = base::Lookup(environment, "SLURM_PROCID");
  const auto mpirun = base::Lookup(environment, "OMPI_COMM_WORLD_RANK");
  if (mpirun.value_or(slurm.value_or("0")) == "0") std::cerr << "nccl-bench: " + error.ToString() + "\n";
  return kStatusInvalidUse;
}

// For what may be wrong on this node alone, before it is connected: the others would wait for it. Task 0 says it and
// ends all; another leaves it to task 0, and does the same when that has not happened.
int RefuseForAll(const World& world, const Environment& environment, const Error& error, int status) {
  constexpr std::chrono::milliseconds kPatience(5000);
  std::this_thread::sleep_for(SignalledEnd::Patience(kPatience, world.rank));
  std::cerr << "nccl-bench: " + (world.rank == 0 ? "" : HostName() + ": ") + error.ToString() + "\n" << std::flush;
  // Without PMIx there is no way to tell them; srun --wait ends them then.
  if (world.size > 1) static_cast<void>(pmix::AbortStep(environment, status));
  return status;
}

Result<Choice> Choose(const Options& options, const std::string& folder) {
  ChoiceFacts facts{
      .forced = options.backend, .nccl_missing = WhyNoNcclBackend(), .threads = options.threads, .gpus = options.gpus};
  const std::string path = BackendPath(folder, BackendKind::kNccl);
  std::error_code ignored;
  if (facts.nccl_missing.empty() && !std::filesystem::exists(path, ignored)) {
    facts.nccl_missing = path + " is not there";
  }
  if (options.backend != BackendKind::kMpi && facts.nccl_missing.empty()) {
    const auto devices = CountCudaDevices();
    if (devices.ok()) {
      facts.devices = *devices;
    } else {
      facts.devices_why = devices.error().ToString();
    }
  }
  return ChooseBackend(facts);
}

// The libraries read their settings from the environment when they start.
void Set(const World& world, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    setenv(setting.name.c_str(), setting.value.c_str(), 1);
    if (!setting.why.empty()) {
      Note(world, "set " + setting.name + "=" + base::Printable(setting.value) + ": " + setting.why);
    }
  }
}

// Where NCCL's log is to go into a file.
std::optional<Error> WhyNoLog(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    if (setting.name != "NCCL_DEBUG_FILE") continue;
    const std::string host = HostName();
    const auto checked = CheckDebugFile(DebugFileName(setting.value, host, getpid()), host);
    if (!checked.ok()) return checked.error();
  }
  return std::nullopt;
}

BackendSetup SetupOf(const World& world, const Options& options) {
  return {.environment = base::CopyEnvironment(environ),
          .options = options,
          .local_rank = world.local_rank,
          .local_ranks = world.local_size,
          .host_memory = AvailableMemory(ReadFile("/proc/meminfo")).value_or(0),
          .has_peers = world.has_pmix};
}

Record RecordOf(const Options& options, const Environment& environment, const std::vector<std::string>& command) {
  return {.options = options,
          .program = std::string(options.collective->name) + "_perf",
          .arguments = command,
          .environment = ShownEnvironment(environment),
          .own_version = "nccl-bench " + std::string(base::kVersion)};
}

ObserverFacts ObserverFactsOf(const World& world, const Options& options, BackendKind kind,
                              const Environment& environment) {
  return {.environment = environment,
          .backend = kind,
          .local_rank = world.local_rank,
          .local_ranks = world.local_size,
          .usable_cores = UsableCores(),
          .online_cores = static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)),
          .threads = static_cast<std::uint64_t>(options.threads)};
}

// One process with its backend.
class Process {
 public:
  Process(Backend& backend, const World& world, Observer& observer, Record record, std::optional<Error> refusal)
      : backend_(backend),
        observer_(observer),
        refusal_(std::move(refusal)),
        leads_(world.rank == 0),
        reporter_({.out = &std::cout,
                   .notes = &std::cerr,
                   .progress = isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0},
                  std::move(record)),
        signalled_({.backend = &backend,
                    .rank = world.rank,
                    .ranks = world.size,
                    .fail = [this](const std::string& text) { reporter_.Fail(text); },
                    .note = [this](const std::string& text) { reporter_.Note("nccl-bench: " + text); }}) {}

  int Run(const Options& options) {
    backend_.WhenLate([this](const std::string& text) { reporter_.Fail(text); });
    if (const auto opened = leads_ ? reporter_.Open() : base::Ok(); !opened.ok()) refusal_ = opened.error();
    const RunParts parts{
        .backend = &backend_, .reporter = &reporter_, .refusal = refusal_, .on_failure = [this](const Error& error) {
          std::_Exit(Broke(error));
        }};
    const auto outcome = RunBenchmark(parts, options);
    if (!outcome.ok()) return Broke(outcome.error());
    if (outcome->refused) return Refused(*outcome->refused);
    const auto seen = observer_.Finish(backend_, outcome->place, reporter_.record());
    if (!seen.ok()) return Broke(seen.error());
    if (leads_) reporter_.Verdicts(seen->verdicts, seen->doubts);
    int status = Judge(*outcome);
    lost_file_ = leads_ && !reporter_.Finish().ok() && status == 0;
    if (lost_file_) status = kStatusInternal;
    signalled_.Conclude(status);
    // Process 0 has written all before another's status ends the step.
    if (const auto told = backend_.Broadcast(""); !told.ok()) return Broke(told.error());
    if (const auto closed = backend_.Close(); !closed.ok()) return Broke(closed.error());
    return status;
  }

  const Record& record() const { return reporter_.record(); }
  bool lost_file() const { return lost_file_; }  // and nothing else is wrong

 private:
  int Judge(const Outcome& outcome) {
    if (!leads_) return outcome.right && outcome.enough ? 0 : kStatusWrongNumbers;
    const auto missed = MissedBusbw(reporter_.record());
    if (missed) reporter_.Missed(*missed);
    if (outcome.right && outcome.enough && !missed) return 0;
    const std::vector<Device> devices = backend_.LocalDevices();
    std::cout << RelayText(devices.empty() ? "" : devices[0].host, getpid()) << std::flush;
    return kStatusWrongNumbers;
  }

  // All processes come here: the leader has spoken before any of them ends the step.
  int Refused(const Error& error) {
    if (leads_) {
      reporter_.Fail(error.ToString());
      reporter_.Note("nccl-bench: " + error.ToString());
    }
    static_cast<void>(backend_.Broadcast(""));
    if (const auto closed = backend_.Close(); !closed.ok()) return Broke(closed.error());
    return StatusOf(error, kStatusInternal);
  }

  int Broke(const Error& error) {
    signalled_.Hold();
    const int status = StatusOf(error, backend_.FailureCode());
    if (!leads_ && status == kStatusTimeout) std::this_thread::sleep_for(kTimeForTheFirst);
    const std::vector<Device> devices = backend_.LocalDevices();
    const std::string host = devices.empty() ? "" : devices[0].host;
    reporter_.Fail(error.ToString());
    reporter_.Note("nccl-bench: " + (host.empty() ? "" : host + ": ") + error.ToString());
    // Another process' line: the leader may be in the middle of a row.
    const std::string start = leads_ ? "" : "\n";
    if (status != kStatusInvalidUse) std::cout << start + FailureText(status, host, error) << std::flush;
    backend_.Abort(status);
    return status;
  }

  Backend& backend_;
  Observer& observer_;
  std::optional<Error> refusal_;
  bool leads_;
  bool lost_file_ = false;
  Reporter reporter_;
  SignalledEnd signalled_;  // last: its thread uses the others
};

int Measure(Options options, const Environment& environment, const std::vector<std::string>& command) {
  const auto world = ReadWorld(environment);
  if (!world.ok()) return RefuseOnce(environment, world.error());
  const std::string folder = OwnFolder();
  const auto choice = Choose(options, folder);
  if (!choice.ok()) {
    const bool lacks = choice.error().code == base::Code::kNotFound;
    return RefuseForAll(*world, environment, choice.error(), lacks ? kStatusNotImplemented : kStatusInvalidUse);
  }
  const auto start = CheckStart(*world, choice->kind);
  if (!start.ok()) return RefuseOnce(environment, start.error());
  // It may be of this node alone: the others wait, so it connects and tells them.
  const auto traffic = ReadTraffic(options);
  std::optional<Error> refusal;
  if (traffic.ok()) {
    options.traffic = *traffic;
  } else {
    refusal = traffic.error();
  }
  const bool is_mpi = choice->kind == BackendKind::kMpi;
  if (const auto ended = RunPerRail(*world, options, choice->kind, environment, command)) return *ended;
  TakeRailFiles(environment, options);
  for (const std::string& warning : options.warnings) Note(*world, warning);
  if (const auto alone = WhyAlone(*world, environment)) Note(*world, *alone);
  Note(*world, std::string("backend ") + (is_mpi ? "mpi (host memory): " : "nccl: ") + choice->reason);
  if (is_mpi) {
    for (const std::string& sentence : LeaveAside(options)) Note(*world, sentence);
    Set(*world, ChooseMpiSettings(ReadMpiFacts(*world, environment)));
  } else {
    const std::vector<Setting> settings = DebugSettings(*world, options, environment);
    if (!refusal) refusal = WhyNoLog(settings);
    Set(*world, settings);
  }
  // With what was set above: it decides which interfaces carry the run.
  const Environment settled = base::CopyEnvironment(environ);
  Observer observer(ObserverFactsOf(*world, options, choice->kind, settled));
  observer.Start();
  auto backend = LoadBackend(BackendPath(folder, choice->kind), SetupOf(*world, options));
  if (!backend.ok()) return RefuseForAll(*world, environment, backend.error(), kStatusInternal);
  const Record record = RecordOf(options, settled, command);
  if (const auto ended = RunBesidesTables(**backend, *world, observer, environment, record, refusal)) return *ended;
  Process process(**backend, *world, observer, record, refusal);
  const int status = process.Run(options);
  TellRail(*world, environment, process.record(), process.lost_file());
  return status;
}

}  // namespace

int RunProgram(const std::string& called, const std::vector<std::string>& arguments, const Environment& environment) {
  const auto options = ParseOptions(called, arguments, environment);
  if (!options.ok()) {
    const int refused = RefuseOnce(environment, options.error());
    return options.error().code == base::Code::kUnsupported ? kStatusNotImplemented : refused;
  }
  std::vector<std::string> command = {called};
  command.insert(command.end(), arguments.begin(), arguments.end());
  if (options->mode == Mode::kHelp) std::cout << HelpText();
  if (options->mode == Mode::kVersion) std::cout << "nccl-bench " << base::kVersion << "\n";
  const bool prints = options->mode == Mode::kHelp || options->mode == Mode::kVersion;
  const int status = prints ? 0 : Measure(*options, environment, command);
  std::cout.flush();
  if (!std::cout.fail() || status != 0) return status;
  // A table that nobody got is no success.
  std::cerr << "nccl-bench: cannot write to standard output: the results are lost\n";
  return kStatusInternal;
}

}  // namespace nccl_tune::bench
