// SPDX-License-Identifier: Apache-2.0
#include "launcher/failure_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <map>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "launcher/known_errors.h"
#include "launcher/rank_table.h"

namespace nccl_tune::launcher {
namespace {

using base::Json;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kPiece = 200;      // what base::Printable shows at once
constexpr std::size_t kMostBytes = 400;  // of one line
constexpr std::size_t kShownLines = 12;  // of the last lines; the JSON has all
constexpr std::size_t kShownGroups = 4;  // of what became of the other ranks
constexpr std::size_t kShownRows = 8;    // of the preflight's differences
constexpr std::size_t kShownNodes = 8;
constexpr std::size_t kListWidth = 100;  // of a list of ranks

// Text of any length as printable ASCII, up to kMostBytes of it.
std::string Shown(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < std::min(text.size(), kMostBytes); at += kPiece) {
    out += base::Printable(text.substr(at, kPiece));
  }
  return text.size() > kMostBytes ? out + "..." : out;
}

// "12.3 s". What no clock gives is shown as 0 or as the largest.
std::string Seconds(double seconds) {
  constexpr double kLargest = 1e9;
  const double sane = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, kLargest);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), sane, std::chars_format::fixed, 1);
  return std::string(text.data(), end.ptr) + " s";
}

std::vector<std::uint32_t> Ascending(std::vector<std::uint32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// "ranks 0-2,4": when the list is long its beginning and how many there are.
std::string Ranks(const std::vector<std::uint32_t>& any_order) {
  const auto ranks = Ascending(any_order);
  const std::string list = CompactList(ranks);
  const std::string word = ranks.size() == 1 ? "rank " : "ranks ";
  if (list.size() <= kListWidth) return word + list;
  return word + list.substr(0, list.rfind(',', kListWidth)) + ",... (" + std::to_string(ranks.size()) + " ranks)";
}

std::string Names(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShownNodes); ++i) out += (i > 0 ? "," : "") + Shown(names[i]);
  if (names.size() > kShownNodes) out += ",... (" + std::to_string(names.size()) + " nodes)";
  return out;
}

std::string HowItEnded(const RankEnd& end) {
  std::string how = "ended, its status is not known";
  if (end.signal) {
    const std::string name = SignalName(*end.signal);
    how = "killed by signal " + std::to_string(*end.signal) + (name.starts_with("SIG") ? " (" + name + ")" : "");
  } else if (end.exit_code) {
    how = "exited with status " + std::to_string(*end.exit_code);
  }
  return how + (end.core ? ", core dumped" : "");
}

std::string Who(const RankEnd& end) {
  std::string who = "rank " + std::to_string(end.rank) + " (" + Shown(end.node);
  if (end.pid > 0) who += ", pid " + std::to_string(end.pid);
  return who + ")";
}

std::string Headline(const Failure& failure) {
  const std::string limit = failure.limit ? " " + Seconds(*failure.limit) : "";
  const std::string first = failure.first ? Who(*failure.first) : "a rank";
  const std::string after = failure.first ? ", " + Seconds(failure.first->seconds) + " after the start" : "";
  switch (failure.kind) {
    case FailureKind::kRankEnded:
      return first + " failed first: " + (failure.first ? HowItEnded(*failure.first) : "how is not known") + after;
    case FailureKind::kNodeLost:
      return std::to_string(failure.unreached.size()) + " of " + std::to_string(failure.nodes) +
             (failure.nodes == 1 ? " node" : " nodes") + (failure.unreached.size() == 1 ? " does" : " do") +
             " not answer any more: " + Names(failure.unreached);
    case FailureKind::kTimeout:
      return "not done within --timeout" + limit + "; all ranks were ended";
    case FailureKind::kHang:
      return "no rank printed anything for --no-output-timeout" + limit + "; all ranks were ended";
    case FailureKind::kCannotStart:
      return first + " could not start " +
             Shown(failure.first && !failure.first->program.empty() ? failure.first->program
                   : failure.program.empty()                        ? "the program"
                                                                    : failure.program.front()) +
             after;
  }
  return first;
}

std::string KillHint(const Failure& failure, const RankEnd& end) {
  if (end.oom_killed == true) {
    return "the kernel killed it because the step's memory was used up: more --mem, or fewer workers";
  }
  if (end.oom_killed == false)
    return "not for want of memory: SIGKILL was sent by scancel, by Slurm, by an administrator or by the program "
           "itself";
  return "SIGKILL is often the out-of-memory killer; `sacct -j " + Shown(failure.job) + "." + Shown(failure.step) +
         " -o State,MaxRSS` says OUT_OF_MEMORY then";
}

// What the way it ended says by itself; "" if nothing.
std::string Hint(const Failure& failure, const RankEnd& end) {
  if (end.signal == SIGKILL || (!end.signal && end.exit_code == 128 + SIGKILL)) return KillHint(failure, end);
  if (end.oom_killed == true) return "the kernel killed a process of it because the step's memory was used up";
  if (end.signal == SIGBUS) return "SIGBUS is often a full /dev/shm: `df /dev/shm` on " + Shown(end.node);
  if (end.signal == SIGILL) return "SIGILL: the program is built for another CPU than that of " + Shown(end.node);
  if (end.signal == SIGABRT) return "SIGABRT: it ended itself (assertion, uncaught exception, PyTorch's watchdog)";
  if (end.exit_code == 126) return "126: the file is there but not executable on " + Shown(end.node);
  if (end.exit_code == 127) return "127: the program, or one that it starts, was not found on " + Shown(end.node);
  if (end.exit_code && *end.exit_code > 128 && *end.exit_code <= 128 + 31) {
    return std::to_string(*end.exit_code) + " is what a shell returns for a program killed by " +
           SignalName(*end.exit_code - 128);
  }
  return "";
}

// All that the rank left, for known_errors.
std::vector<Explanation> Explain(const std::optional<RankEnd>& end) {
  if (!end) return {};
  std::vector<std::string> lines = end->last_lines;
  if (end->nccl_last) lines.push_back(*end->nccl_last);
  if (end->python_error) lines.push_back(*end->python_error);
  return ExplainLines(lines);
}

std::string RenderRank(const Failure& failure, const RankEnd& end) {
  std::string out;
  if (!end.last_lines.empty()) out += "  its last lines:\n";
  const std::size_t shown = std::min(end.last_lines.size(), kShownLines);
  for (const auto& line : std::span(end.last_lines).last(shown)) out += "    " + Shown(line) + "\n";
  if (end.nccl_last) out += "  NCCL said last: " + Shown(*end.nccl_last) + "\n";
  if (end.python_error) out += "  Python's error: " + Shown(*end.python_error) + "\n";
  const auto explained = Explain(end);
  if (!explained.empty()) {
    const KnownError& error = *explained.front().error;
    out += "  that is: " + std::string(error.symptom) + "\n";
    out += "    cause: " + std::string(error.cause) + "\n";
    out += "    do:    " + std::string(error.action) + "\n";
    out += "    see    " + std::string(error.source) + "\n";
  }
  const std::string hint = Hint(failure, end);
  return hint.empty() ? out : out + "  hint: " + hint + "\n";
}

// The function of a frame, without what differs between two processes at the same place: addresses and arguments.
std::string FunctionOf(const std::string& frame) {
  if (frame.starts_with("Thread ")) return "";
  const std::size_t in = frame.find(" in ");
  const std::string from = frame.starts_with("#") && in != std::string::npos ? frame.substr(in + 4) : frame;
  return from.substr(0, from.find(" ("));
}

// Ranks that do the same stand together: those whose innermost frames, or whose states, are equal.
std::string RenderStates(const Failure& failure) {
  constexpr std::size_t kShownFrames = 6;
  std::map<std::string, std::vector<const RankState*>> groups;
  for (const RankState& one : failure.states) {
    std::string key = one.stack.empty() ? one.state.substr(0, one.state.find(" with pid ")) : "";
    for (std::size_t i = 0; i < std::min(one.stack.size(), kShownFrames); ++i) key += FunctionOf(one.stack[i]) + "\n";
    groups[key].push_back(&one);
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [key, members] : groups) {
    if (shown++ == kShownGroups) {
      out += "  and " + std::to_string(groups.size() - kShownGroups) + " more groups\n";
      break;
    }
    std::vector<std::uint32_t> ranks;
    for (const RankState* one : members) ranks.push_back(one->rank);
    const RankState& first = *members.front();
    out += "  " + Ranks(ranks) + ": " + Shown(first.state.empty() ? "state not known" : first.state) + " (" +
           Shown(first.node) + ", pid " + std::to_string(first.pid) + ")\n";
    if (!first.last_line.empty()) out += "    last line: " + Shown(first.last_line) + "\n";
    for (std::size_t i = 0; i < std::min(first.stack.size(), kShownFrames); ++i)
      out += "    " + Shown(first.stack[i]) + "\n";
  }
  return out;
}

std::string RenderOthers(const Failure& failure) {
  std::string out;
  for (std::size_t i = 0; i < std::min(failure.later.size(), kShownGroups); ++i) {
    const auto& group = failure.later[i];
    out += (i == 0 ? "  afterwards: " : "              ") + Ranks(group.ranks) + ": " + Shown(group.what) + "\n";
  }
  if (failure.later.size() > kShownGroups) {
    out += "              and " + std::to_string(failure.later.size() - kShownGroups) + " more groups\n";
  }
  if (!failure.unreached.empty() && failure.kind != FailureKind::kNodeLost) {
    out += "  no word from: " + Names(failure.unreached) + "\n";
  }
  if (failure.kind == FailureKind::kNodeLost) {
    out += "  hint: the node is down or cut off, or its nccl-launch was killed; sinfo and the node's slurmd.log tell\n";
  }
  if (failure.differences.empty()) return out;
  out += "  before the start the nodes differed:\n";
  for (std::size_t i = 0; i < std::min(failure.differences.size(), kShownRows); ++i) {
    out += "    " + Shown(failure.differences[i]) + "\n";
  }
  if (failure.differences.size() > kShownRows) out += "    ...\n";
  return out;
}

std::string KindName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kRankEnded:
      return "rank-ended";
    case FailureKind::kNodeLost:
      return "node-lost";
    case FailureKind::kTimeout:
      return "timeout";
    case FailureKind::kHang:
      return "hang";
    case FailureKind::kCannotStart:
      return "cannot-start";
  }
  return "";
}

Json RankJson(const RankEnd& end) {
  Json json;
  json["rank"] = end.rank;
  json["local_rank"] = end.local_rank;
  json["node"] = end.node;
  json["pid"] = end.pid;
  if (end.exit_code) json["exit_code"] = *end.exit_code;
  if (end.signal) json["signal"] = *end.signal;
  if (end.signal) json["signal_name"] = SignalName(*end.signal);
  json["core"] = end.core;
  json["seconds"] = end.seconds;
  json["program"] = end.program;
  json["last_lines"] = end.last_lines;
  if (end.nccl_last) json["nccl_last"] = *end.nccl_last;
  if (end.python_error) json["python_error"] = *end.python_error;
  if (end.oom_killed) json["oom_killed"] = *end.oom_killed;
  return json;
}

Json ExplanationsJson(const std::optional<RankEnd>& end) {
  Json list = Json::array();
  for (const auto& one : Explain(end)) {
    Json json;
    json["id"] = one.error->id;
    json["symptom"] = one.error->symptom;
    json["cause"] = one.error->cause;
    json["action"] = one.error->action;
    json["source"] = one.error->source;
    list.push_back(std::move(json));
  }
  return list;
}

std::string SafeId(std::string_view id) {
  std::string out;
  for (const char c : id.substr(0, 64)) {
    const bool safe =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+';
    out += safe ? c : '_';
  }
  return out.empty() ? "unknown" : out;
}

}  // namespace

std::string SignalName(int signal) {
  constexpr std::pair<int, std::string_view> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
      {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == signal) return std::string(name);
  }
  return "signal " + std::to_string(signal);
}

std::string RenderFailure(const Failure& failure) {
  std::string out = "nccl-launch: " + Headline(failure) + "\n";
  if (failure.first) out += RenderRank(failure, *failure.first);
  out += RenderStates(failure);
  return out + RenderOthers(failure);
}

std::string FailureJson(const Failure& failure) {
  Json json;
  json["v"] = kVersion;
  json["kind"] = KindName(failure.kind);
  json["job"] = failure.job;
  json["step"] = failure.step;
  json["nodes"] = failure.nodes;
  json["ranks"] = failure.ranks;
  json["started"] = failure.started;
  json["ended"] = failure.ended;
  if (failure.limit) json["limit"] = *failure.limit;
  json["program"] = failure.program;
  if (failure.first) json["first"] = RankJson(*failure.first);
  json["later"] = Json::array();
  for (const auto& group : failure.later) {
    const auto ranks = Ascending(group.ranks);
    json["later"].push_back({{"what", group.what}, {"ranks", CompactList(ranks)}, {"count", ranks.size()}});
  }
  if (!failure.states.empty()) json["states"] = Json::array();
  for (const auto& one : failure.states) {
    json["states"].push_back({{"rank", one.rank},
                              {"node", one.node},
                              {"pid", one.pid},
                              {"state", one.state},
                              {"last_line", one.last_line},
                              {"stack", one.stack}});
  }
  json["unreached"] = failure.unreached;
  json["differences"] = failure.differences;
  json["explanations"] = ExplanationsJson(failure.first);
  return base::DumpJson(json, 1) + "\n";
}

std::string FailureFileName(const Failure& failure) {
  return "failure-" + SafeId(failure.job) + "." + SafeId(failure.step) + ".json";
}

}  // namespace nccl_tune::launcher
