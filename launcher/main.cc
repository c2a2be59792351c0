// SPDX-License-Identifier: Apache-2.0
//
// nccl-launch: a task of a Slurm step tells the others where it is, gets the variables of its rank, and becomes
// PROGRAM.
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "base/version.h"
#include "hw/directory_tree.h"
#include "launcher/entry.h"
#include "launcher/exchange.h"
#include "launcher/facts_of_step.h"
#include "launcher/master_port.h"
#include "launcher/meeting.h"
#include "launcher/options.h"
#include "launcher/port_claim.h"
#include "launcher/rank_facts.h"
#include "launcher/rank_table.h"
#include "launcher/rank_variables.h"
#include "pmix/session.h"
#include "pmix/step.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Result;

constexpr int kUsage = 2;
constexpr int kOwnFailure = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

constexpr const char* kRightLine = "Start it with: srun --mpi=pmix nccl-launch [options] -- PROGRAM ARGS";

// What PMIx may change in the process and PROGRAM must find as it was.
struct Signals {
  sigset_t mask;
  struct sigaction pipe;
};

Signals SaveSignals() {
  Signals signals{};
  pthread_sigmask(SIG_SETMASK, nullptr, &signals.mask);
  sigaction(SIGPIPE, nullptr, &signals.pipe);
  return signals;
}

void RestoreSignals(const Signals& signals) {
  sigaction(SIGPIPE, &signals.pipe, nullptr);
  pthread_sigmask(SIG_SETMASK, &signals.mask, nullptr);
}

int Fail(int code, const std::string& text) {
  std::cerr << "nccl-launch: " << text << "\n" << std::flush;
  return code;
}

// For what is wrong in all tasks alike: task 0 says it for all.
int FailOnce(int code, const Environment& environment, const std::string& text) {
  if (base::Lookup(environment, "SLURM_PROCID").value_or("0") != "0") return code;
  return Fail(code, text);
}

Result<pmix::Step> RequireStep(const Environment& environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(step, pmix::ReadStep(environment));
  if (!step) {
    return Error{.code = Code::kNotFound, .what = "not a task of a Slurm step", .hint = kRightLine};
  }
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

void PrintTable(const std::vector<Entry>& entries, const Additions& additions) {
  std::string text = "nccl-launch: " + std::to_string(entries.size()) + " ranks, MASTER_ADDR " +
                     base::Printable(entries[0].address.value_or("-")) + ", MASTER_PORT " +
                     std::to_string(entries[0].port.value_or(0)) + "\n" + RenderRankTable(entries);
  if (!additions.kept.empty()) {
    text += "kept, as the user has set them:";
    for (const std::string& one : additions.kept) text += " " + base::Printable(one);
    text += "\n";
  }
  if (additions.inherited) text += "replaced the rank variables of an outer step\n";
  std::cerr << text << std::flush;
}

// Rank 0's port; its claim is PROGRAM's, so that it holds until that has ended.
Result<std::optional<std::uint16_t>> OfferedPort(const RankFacts& facts, const Environment& environment) {
  if (facts.rank != 0) return std::optional<std::uint16_t>();
  NCCL_TUNE_ASSIGN_OR_RETURN(root, hw::DirectoryTree::Open("/"));
  NCCL_TUNE_ASSIGN_OR_RETURN(found, FindMasterPort(facts, environment, *root, getuid(), AtExec::kKept));
  if (!found.warning.empty()) std::cerr << "nccl-launch: " + found.warning + "\n" << std::flush;
  found.claim.Release();
  return std::optional(found.port);
}

// The environment for PROGRAM. On an Error the session is still open.
Result<Environment> PrepareRank(pmix::Session& session, const pmix::Step& step, const Options& options,
                                Environment environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(facts, FactsOfStep(step, environment));
  NCCL_TUNE_ASSIGN_OR_RETURN(port, OfferedPort(facts, environment));
  NCCL_TUNE_ASSIGN_OR_RETURN(entries, ExchangeEntries(session, step, environment, port, options.timeout));
  const auto disagreement = FindDisagreement(entries);
  if (disagreement) {
    if (step.rank == 0) std::cerr << "nccl-launch: " + *disagreement + "\n" << std::flush;
    DropPlannedInterface(&environment);
  }
  // Where the nodes do not meet, rank 0's name is what Slurm itself reaches it by.
  facts.size = session.size();
  facts.master_address = disagreement ? entries[0].node : *entries[0].address;
  facts.master_port = *entries[0].port;
  const Additions additions = DecideAdditions(facts, environment);
  if (options.verbose && step.rank == 0) PrintTable(entries, additions);
  Apply(additions, &environment);
  return environment;
}

// Returns only when PROGRAM could not be started.
int BecomeProgram(const std::vector<std::string>& program, const Environment& environment) {
  std::vector<std::string> arguments = program;
  std::vector<std::string> entries = base::ToEntries(environment);
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (std::string& one : arguments) argv.push_back(one.data());
  for (std::string& one : entries) envp.push_back(one.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  execvpe(argv[0], argv.data(), envp.data());
  const int reason = errno;
  const bool absent = reason == ENOENT || reason == ENOTDIR;
  return Fail(
      absent ? kNotFound : kNotExecutable,
      base::Printable(program[0]) + ": " + (absent ? "not found: " : "cannot be executed: ") + std::strerror(reason));
}

int Launch(const Options& options, Environment environment) {
  const Signals signals = SaveSignals();
  const auto step = RequireStep(environment);
  if (!step.ok()) return FailOnce(kOwnFailure, environment, step.error().ToString());
  if (const auto store = pmix::StoreSetting(environment)) {
    setenv(store->first.c_str(), store->second.c_str(), 1);
    environment.insert_or_assign(store->first, store->second);
  }
  auto session = pmix::Session::Init(environment);
  if (!session.ok()) return Fail(kOwnFailure, session.error().ToString());
  const auto prepared = PrepareRank(**session, *step, options, environment);
  if (!prepared.ok()) {
    const int code = Fail(kOwnFailure, step->node + ": " + prepared.error().ToString());
    (*session)->Abort(code);
    return code;
  }
  if (const auto closed = (*session)->Finalize(); !closed.ok()) {
    return Fail(kOwnFailure, closed.error().ToString());
  }
  RestoreSignals(signals);
  return BecomeProgram(options.program, *prepared);
}

int Run(const std::vector<std::string>& arguments, const Environment& environment) {
  const auto options = ParseOptions(arguments);
  if (!options.ok()) return FailOnce(kUsage, environment, options.error().ToString());
  if (options->mode != Mode::kLaunch) {
    if (options->mode == Mode::kHelp) std::cout << HelpText();
    if (options->mode == Mode::kVersion) std::cout << "nccl-launch " << base::kVersion << "\n";
    std::cout.flush();
    return std::cout.fail() ? Fail(kOwnFailure, "cannot write to standard output") : 0;
  }
  return Launch(*options, environment);
}

}  // namespace
}  // namespace nccl_tune::launcher

int main(int argc, char** argv) {
  // The environment as it was given: PMIx adds to it.
  const auto environment = nccl_tune::base::CopyEnvironment(environ);
  const int status =
      nccl_tune::launcher::Run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), environment);
  std::cout.flush();
  std::cerr.flush();
  // Without exit handlers: after a failed exchange PMIx's own would wait for a server that does not answer.
  _exit(status);
}
