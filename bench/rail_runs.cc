// SPDX-License-Identifier: Apache-2.0
#include "bench/rail_runs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/parse_number.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Result;

constexpr double kTolerance = 0.8;
constexpr int kInternal = 1;
constexpr int kInvalidUse = 6;
constexpr int kWrongData = 7;
constexpr int kSignal = 128;  // as a shell's

struct Ended {
  int status = 0;
  std::string output{};
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string ReadAll(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

int StatusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kInternal;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
}

// Runs this program once more; its stdout is kept, its stderr is ours.
Result<Ended> RunOnce(const RailRuns& runs, const Environment& environment) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error{.what = std::strerror(errno), .where = "pipe"};
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<std::string> arguments = runs.arguments;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, runs.program.c_str(), &actions, nullptr, Pointers(arguments).data(),
                                 Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ended ended;
  if (failed == 0) {
    ended.output = ReadAll(ends[0]);
    ended.status = StatusOf(child);
  }
  close(ends[0]);
  if (failed != 0) return Error{.what = std::strerror(failed), .where = runs.program};
  return ended;
}

int Refuse(const RailRuns& runs, const Error& error, int status) {
  *runs.notes << ("nccl-bench: " + runs.host + ": " + error.ToString() + "\n") << std::flush;
  return status;
}

// For all children. Under PMIx 4 the second client of a task finds no shared memory of the server's any more.
Environment ForChild(const RailRuns& runs, const std::string& rail) {
  Environment environment = runs.environment;
  environment.emplace("PMIX_MCA_gds", "hash");
  environment[kRailVariable] = rail;
  return environment;
}

Result<Ended> RunRail(const RailRuns& runs, std::size_t number) {
  NCCL_TUNE_ASSIGN_OR_RETURN(settings, SettingsFor(runs.rails[number], runs.backend, runs.environment));
  Environment environment = ForChild(runs, std::to_string(number));
  std::string told;
  for (const auto& [name, value] : settings) {
    if (value.empty()) {
      environment.erase(name);
    } else {
      environment[name] = value;
      told += " " + name + "=" + value;
    }
  }
  if (runs.leads) {
    *runs.notes << ("nccl-bench: rail " + std::to_string(number) + ":" + told + "\n") << std::flush;
  }
  return RunOnce(runs, environment);
}

Result<Ended> Survey(const RailRuns& runs, const std::string& text) {
  Environment environment = ForChild(runs, kRailSurvey);
  environment[kRailListVariable] = text;
  return RunOnce(runs, environment);
}

// Bytes that each rail's interface has sent. An RDMA port's bytes pass it by; NCCL exchanges nothing that may be old.
std::vector<std::optional<std::uint64_t>> Sent(const RailRuns& runs) {
  constexpr std::size_t kNumber = 64;
  std::vector<std::optional<std::uint64_t>> sent(runs.rails.size());
  const auto tree = hw::DirectoryTree::Open("/");
  if (!tree.ok() || runs.backend != BackendKind::kMpi) return sent;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto text = (*tree)->Read("sys/class/net/" + runs.rails[i].netdev + "/statistics/tx_bytes", kNumber);
    if (!text.ok()) continue;
    const auto number = base::ParseInteger<std::uint64_t>(base::Trim(*text));
    if (number.ok()) sent[i] = *number;
  }
  return sent;
}

// Each rail once, and again those whose bytes took another one.
class RailLoop {
 public:
  explicit RailLoop(const RailRuns& runs) : runs_(runs), results_(runs.rails.size()) {}

  int All() {
    std::vector<std::size_t> pending;
    for (std::size_t rail = 0; rail < results_.size(); ++rail) pending.push_back(rail);
    for (int attempt = 1; !pending.empty(); ++attempt) {
      std::vector<std::size_t> astray;
      for (const std::size_t rail : pending) {
        const int failed = One(rail, astray);
        if (failed != 0) return failed;
      }
      if (runs_.backend != BackendKind::kMpi || results_.size() < 2) break;
      const auto survey = Survey(runs_, AstrayToText(astray));
      if (!survey.ok()) return Refuse(runs_, survey.error(), kInternal);
      if (survey->status != 0) return survey->status;
      const auto all = AstrayFromText(std::string(base::Trim(survey->output)), results_.size());
      if (!all.ok()) return Refuse(runs_, all.error(), kInternal);
      pending = *all;
      if (pending.empty() || attempt < kAttempts) continue;
      return Refuse(runs_, {.what = "the bytes of a rail keep leaving by another one", .where = "--per-rail"},
                    kInternal);
    }
    if (!runs_.leads) return status_;
    *runs_.out << RailText(results_, kTolerance, runs_.collective) << std::flush;
    for (const bool slow : SlowRails(results_, kTolerance)) status_ = slow ? kWrongData : status_;
    return status_;
  }

 private:
  static constexpr int kAttempts = 4;

  // Other than 0: the step ends with it.
  int One(std::size_t number, std::vector<std::size_t>& astray) {
    const auto before = Sent(runs_);
    const auto ended = RunRail(runs_, number);
    if (!ended.ok()) return Refuse(runs_, ended.error(), kInvalidUse);
    if (IsAstray(before, Sent(runs_), number)) astray.push_back(number);
    if (!has_header_ && runs_.leads) *runs_.out << HeaderOf(ended->output) << std::flush;
    has_header_ = true;
    if (ended->status != 0 && ended->status != kWrongData) {
      *runs_.out << ended->output << std::flush;
      return ended->status;
    }
    status_ = std::max(status_, ended->status);
    const Rail& rail = runs_.rails[number];
    results_[number] = {.name = rail.link.ToString(), .busbw = BestOf(ended->output).value_or(0), .gbps = rail.gbps};
    return 0;
  }

  const RailRuns& runs_;
  std::vector<RailResult> results_;
  int status_ = 0;
  bool has_header_ = false;
};

}  // namespace

std::vector<Rail> ReadRails(const Environment& environment, BackendKind backend) {
  const auto tree = hw::DirectoryTree::Open("/");
  if (!tree.ok()) return FindRails(environment, {}, {});
  std::vector<facts::Note> notes;
  const auto node = hw::ReadNode(**tree, hw::ReadLiveIp(**tree, &notes), std::nullopt);
  if (!node.ok()) return FindRails(environment, {}, {});
  return FindRails(environment, *node, FindWire(*node, environment, backend));
}

int RunRails(const RailRuns& runs) {
  const auto survey = Survey(runs, RailsToText(runs.host, runs.rails));
  if (!survey.ok()) return Refuse(runs, survey.error(), kInternal);
  if (survey->status != 0) return survey->status;
  const auto count = base::ParseInteger<std::uint64_t>(base::Trim(survey->output));
  if (!count.ok() || *count != runs.rails.size()) return Refuse(runs, {.what = "no answer of the survey"}, kInternal);
  return RailLoop(runs).All();
}

Result<std::string> SurveyRails(Backend& backend, const std::string& text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(place, backend.Connect());
  NCCL_TUNE_ASSIGN_OR_RETURN(texts, backend.Gather(text));
  Result<std::uint64_t> count = std::uint64_t{0};
  std::string answer;
  if (place.process == 0 && IsAstrayText(text)) answer = AllAstray(texts);
  if (place.process == 0 && !IsAstrayText(text)) {
    count = CommonCount(texts);
    if (count.ok()) answer = std::to_string(*count);
  }
  NCCL_TUNE_ASSIGN_OR_RETURN(shared, backend.Broadcast(answer));
  if (!count.ok()) return count.error();
  return shared;
}

}  // namespace nccl_tune::bench
