// SPDX-License-Identifier: Apache-2.0
#include "bench/search_program.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "bench/ending.h"
#include "bench/host_name.h"
#include "bench/rail_runs.h"
#include "bench/rails.h"
#include "bench/search.h"
#include "bench/search_reporter.h"
#include "bench/signalled_end.h"
#include "bench/surroundings.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;

// No answer: task 0 has said why.
int RunSurvey(Backend& backend, const Environment& environment) {
  const auto answer = SurveyRails(backend, base::Lookup(environment, kRailListVariable).value_or(""));
  if (answer.ok()) {
    std::cout << *answer + "\n" << std::flush;
  } else {
    std::cerr << "nccl-bench: " + answer.error().ToString() + "\n" << std::flush;
  }
  if (!backend.Close().ok()) return kStatusInternal;
  return answer.ok() && !answer->empty() ? 0 : kStatusInvalidUse;
}

int Broke(Backend& backend, SearchReporter& reporter, const SignalledEnd& signalled, const Error& error) {
  signalled.Hold();
  const int status = StatusOf(error, backend.FailureCode());
  reporter.Fail(error.ToString());
  reporter.Note(HostName() + ": " + error.ToString());
  if (status != kStatusInvalidUse) std::cout << FailureText(status, HostName(), error) << std::flush;
  backend.Abort(status);
  return status;
}

int RunSearchOn(Backend& backend, const World& world, Observer& observer, Record record, std::optional<Error> refusal) {
  const Options options = record.options;
  record.program = std::string("nccl-bench ") + (options.mode == Mode::kPairs ? "pairs" : "bisect");
  const bool leads = world.rank == 0;
  SearchReporter reporter({.out = &std::cout, .notes = &std::cerr, .progress = isatty(STDERR_FILENO) != 0},
                          std::move(record));
  SignalledEnd signalled({.backend = &backend,
                          .rank = world.rank,
                          .ranks = world.size,
                          .fail = [&](const std::string& text) { reporter.Fail(text); },
                          .note = [&](const std::string& text) { reporter.Note(text); }});
  backend.WhenLate([&](const std::string& text) { reporter.Fail(text); });
  if (const auto opened = leads ? reporter.Open() : base::Ok(); !opened.ok()) refusal = opened.error();
  const auto end = RunSearch(
      {.backend = &backend, .reporter = &reporter, .notes = &std::cerr, .refusal = std::move(refusal)}, options);
  if (!end.ok()) return Broke(backend, reporter, signalled, end.error());
  if (*end == SearchEnd::kNothing || *end == SearchEnd::kSuspicious) {
    const auto doubts = observer.FinishSearch(backend);
    if (!doubts.ok()) return Broke(backend, reporter, signalled, doubts.error());
    if (leads) reporter.Doubts(*doubts);
  }
  int status = *end == SearchEnd::kNoPeers || *end == SearchEnd::kRefused ? kStatusInvalidUse : 0;
  // One task is enough to end srun with it.
  if (leads && *end == SearchEnd::kSuspicious) status = kStatusWrongNumbers;
  if (leads && !reporter.Finish().ok() && status == 0) status = kStatusInternal;
  signalled.Conclude(status);
  // Process 0 has written all before another's status ends the step.
  if (const auto told = backend.Broadcast(""); !told.ok()) return Broke(backend, reporter, signalled, told.error());
  if (const auto closed = backend.Close(); !closed.ok()) return Broke(backend, reporter, signalled, closed.error());
  return status;
}

}  // namespace

std::optional<int> RunPerRail(const World& world, const Options& options, BackendKind backend,
                              const Environment& environment, const std::vector<std::string>& command) {
  if (!options.per_rail || base::Lookup(environment, kRailVariable)) return std::nullopt;
  return RunRails({.program = OwnFolder() + "/nccl-bench",
                   .arguments = command,
                   .environment = environment,
                   .backend = backend,
                   .host = HostName(),
                   .rails = ReadRails(environment, backend),
                   .collective = std::string(options.collective->name),
                   .json_file = options.json_file,
                   .csv_file = options.csv_file,
                   .leads = world.rank == 0,
                   .out = &std::cout,
                   .notes = &std::cerr});
}

std::optional<int> RunBesidesTables(Backend& backend, const World& world, Observer& observer,
                                    const Environment& environment, const Record& record,
                                    const std::optional<Error>& refusal) {
  if (base::Lookup(environment, kRailVariable) == kRailSurvey) return RunSurvey(backend, environment);
  const Mode mode = record.options.mode;
  if (mode == Mode::kPairs || mode == Mode::kBisect) return RunSearchOn(backend, world, observer, record, refusal);
  return std::nullopt;
}

void TellRail(const World& world, const Environment& environment, const Record& record, bool lost_file) {
  if (world.rank != 0 || !base::Lookup(environment, kRailVariable)) return;
  std::cout << BestText(BestBusbw(record), lost_file) << std::flush;
}

}  // namespace nccl_tune::bench
