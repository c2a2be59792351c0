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
#include "bench/rail_search.h"
#include "bench/same_start.h"
#include "hw/directory_tree.h"
#include "hw/ip_facts.h"
#include "hw/read_node.h"

namespace nccl_tune::bench {
namespace {

using base::Environment;
using base::Error;
using base::Result;
using base::Status;

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

// Sets what leaves this rail alone; returns it for people.
Result<std::string> Leave(const RailRuns& runs, std::size_t number, Environment& environment) {
  NCCL_TUNE_ASSIGN_OR_RETURN(settings, SettingsFor(runs.rails[number], runs.backend, runs.environment));
  std::string told;
  for (const auto& [name, value] : settings) {
    if (value.empty()) {
      environment.erase(name);
    } else {
      environment[name] = value;
      told += " " + name + "=" + value;
    }
  }
  return told;
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

std::vector<std::string> NamesOf(const std::vector<Rail>& rails) {
  std::vector<std::string> names;
  for (const Rail& rail : rails) names.push_back(rail.link.ToString());
  return names;
}

std::vector<RailResult> Unmeasured(const std::vector<Rail>& rails) {
  std::vector<RailResult> results;
  for (const Rail& rail : rails) results.push_back({.name = rail.link.ToString(), .gbps = rail.gbps});
  return results;
}

// Whether this process can measure all rails.
Status Ready(const RailRuns& runs, const RailFiles& files) {
  for (const Rail& rail : runs.rails) {
    const auto settings = SettingsFor(rail, runs.backend, runs.environment);
    if (settings.ok()) continue;
    Error error = settings.error();
    error.where.insert(0, runs.host + ": ");
    return error;
  }
  return runs.leads ? files.Try() : base::Ok();
}

class RailLoop {
 public:
  RailLoop(const RailRuns& runs, RailFiles& files)
      : runs_(runs), files_(files), search_(Unmeasured(runs.rails), kTolerance) {}

  int All() {
    while (!search_.Next().empty()) {
      if (const int failed = Round(); failed != 0) return failed;
    }
    if (!runs_.leads) return status_;
    *runs_.out << RailText(search_.results(), kTolerance, runs_.collective) << std::flush;
    for (const bool slow : SlowRails(search_.results(), kTolerance)) status_ = slow ? kWrongData : status_;
    return status_ == 0 && lost_file_ ? kInternal : status_;
  }

 private:
  // Other than 0: the step ends with it.
  int Round() {
    const std::vector<std::size_t> rails = search_.Next();
    std::vector<double> busbw;
    std::vector<std::size_t> astray;
    for (const std::size_t rail : rails) {
      const int failed = One(rail, busbw, astray);
      if (failed != 0) return failed;
    }
    RailWish answer;
    if (runs_.rails.size() > 1) {
      const auto survey = Survey(runs_, WishToText(search_.Wish(busbw, astray)));
      if (!survey.ok()) return Refuse(runs_, survey.error(), kInternal);
      if (survey->status != 0) return survey->status;
      const auto told = WishFromText(std::string(base::Trim(survey->output)), runs_.rails.size());
      if (!told.ok()) return Refuse(runs_, told.error(), kInternal);
      answer = *told;
    }
    const Status taken = search_.Take(busbw, answer);
    for (const std::size_t rail : rails) Keep(files_.Settle(rail, search_.IsLastBest(rail)));
    return taken.ok() ? 0 : Refuse(runs_, taken.error(), kInternal);
  }

  int One(std::size_t number, std::vector<double>& busbw, std::vector<std::size_t>& astray) {
    Environment environment = ForChild(runs_, std::to_string(number));
    const auto left = Leave(runs_, number, environment);
    if (!left.ok()) return Refuse(runs_, left.error(), kInvalidUse);
    if (runs_.leads) {
      Keep(files_.Begin(number, environment));
      Tell(number, *left);
    }
    const auto before = Sent(runs_);
    const auto ended = RunOnce(runs_, environment);
    if (IsAstray(before, Sent(runs_), number)) astray.push_back(number);
    files_.RemoveEmpty(number);
    if (!ended.ok()) return Refuse(runs_, ended.error(), kInvalidUse);
    if (!has_header_ && runs_.leads) *runs_.out << HeaderOf(ended->output) << std::flush;
    has_header_ = true;
    busbw.push_back(BestOf(ended->output).value_or(0));
    // Said by the child. The others measure on, and so does this one.
    const bool lost_file = HasLostFile(ended->output);
    lost_file_ = lost_file_ || lost_file;
    const int status = lost_file && ended->status == kInternal ? 0 : ended->status;
    if (status != 0 && status != kWrongData) {
      *runs_.out << ended->output << std::flush;
      return status;
    }
    status_ = std::max(status_, status);
    return 0;
  }

  void Tell(std::size_t number, const std::string& settings) const {
    const std::size_t times = search_.results()[number].times;
    const std::string files = files_.Names(number);
    *runs_.notes << ("nccl-bench: rail " + std::to_string(number) +
                     (times == 0 ? "" : ", measured " + std::to_string(times) + " times, again") + ":" + settings +
                     (files.empty() ? "" : "; results in " + files) + "\n")
                 << std::flush;
  }

  // What is wrong with a file ends nothing here: the others would wait.
  void Keep(const Status& status) {
    if (status.ok()) return;
    lost_file_ = true;
    Refuse(runs_, status.error(), kInternal);
  }

  const RailRuns& runs_;
  RailFiles& files_;
  RailSearch search_;
  int status_ = 0;
  bool has_header_ = false;
  bool lost_file_ = false;
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
  RailFiles files(runs.json_file, runs.csv_file, NamesOf(runs.rails));
  const Status ready = Ready(runs, files);
  const auto survey = Survey(runs, ready.ok() ? RailsToText(runs.host, runs.rails) : RefusalToText(ready.error()));
  if (!survey.ok()) return Refuse(runs, survey.error(), kInternal);
  if (survey->status != 0) return survey->status;
  const auto count = base::ParseInteger<std::uint64_t>(base::Trim(survey->output));
  if (!count.ok() || *count != runs.rails.size()) return Refuse(runs, {.what = "no answer of the survey"}, kInternal);
  return RailLoop(runs, files).All();
}

Result<std::string> SurveyRails(Backend& backend, const std::string& text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(place, backend.Connect());
  NCCL_TUNE_ASSIGN_OR_RETURN(texts, backend.Gather(text));
  Result<std::uint64_t> count = std::uint64_t{0};
  std::string answer;
  if (place.process == 0 && IsWishText(text)) answer = AnswerTo(texts);
  if (place.process == 0 && !IsWishText(text)) {
    count = CommonCount(texts);
    if (count.ok()) answer = std::to_string(*count);
  }
  // A process that measures a table waits for a decision (same_start.h), and this is one for it.
  if (!count.ok()) answer = DecisionToText({.refusal = count.error().ToString()});
  NCCL_TUNE_ASSIGN_OR_RETURN(shared, backend.Broadcast(answer));
  if (!count.ok()) return count.error();
  return DecisionFromText(shared).refusal.empty() ? shared : "";
}

}  // namespace nccl_tune::bench
