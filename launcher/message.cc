// SPDX-License-Identifier: Apache-2.0
#include "launcher/message.h"

#include <array>
#include <limits>
#include <utility>

#include "base/json.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::Result;

constexpr std::array<std::string_view, 9> kKinds = {"hello", "ready", "failed", "lost", "silent",
                                                    "loud",  "state", "done",   "look"};
constexpr std::string_view kEnd = "end";
constexpr std::array<std::string_view, 3> kRoles = {"tree", "ring", "local"};
constexpr std::array<std::string_view, 3> kProblems = {"probe", "missing", "odd"};
constexpr std::size_t kMostLines = 64;  // of any list of texts

std::string_view NameOf(Message::Kind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kKinds.size() ? kKinds[index] : kEnd;
}

template <std::size_t N>
std::optional<std::size_t> IndexOf(const std::array<std::string_view, N>& names,
                                   const std::optional<std::string>& name) {
  for (std::size_t index = 0; index < N; ++index) {
    if (name == names[index]) return index;
  }
  return std::nullopt;
}

std::optional<Message::Kind> KindOf(const std::optional<std::string>& name) {
  if (name == kEnd) return Message::Kind::kEnd;
  const auto index = IndexOf(kKinds, name);
  return index ? std::optional(static_cast<Message::Kind>(*index)) : std::nullopt;
}

std::optional<std::uint32_t> Unsigned(const Json& json, std::string_view name) {
  const auto number = base::GetInteger(json, name);
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<int> Small(const Json& json, std::string_view name) {
  const auto number = base::GetInteger(json, name);
  if (!number || *number < 0 || *number > 255) return std::nullopt;
  return static_cast<int>(*number);
}

std::string Text(const Json& json, std::string_view name) { return base::GetString(json, name).value_or(""); }

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& one : list) {
    if (out.size() == kMostLines) break;
    if (const auto* text = one.get_ptr<const std::string*>(); text != nullptr) out.push_back(*text);
  }
  return out;
}

Json ToJson(const Problem& problem) {
  Json json;
  json["k"] = kProblems[static_cast<std::size_t>(problem.kind)];
  json["from"] = problem.from;
  json["rank"] = problem.rank;
  if (!problem.to.empty()) json["to"] = problem.to;
  if (!problem.address.empty()) json["addr"] = problem.address;
  if (!problem.reason.empty()) json["why"] = problem.reason;
  return json;
}

std::optional<Problem> ToProblem(const Json& json) {
  const auto kind = IndexOf(kProblems, base::GetString(json, "k"));
  const auto rank = Unsigned(json, "rank");
  if (!kind || !rank) return std::nullopt;
  return Problem{.kind = static_cast<Problem::Kind>(*kind),
                 .from = Text(json, "from"),
                 .to = Text(json, "to"),
                 .address = Text(json, "addr"),
                 .reason = Text(json, "why"),
                 .rank = *rank};
}

Json ToJson(const RankEnd& end) {
  Json json;
  json["rank"] = end.rank;
  json["local"] = end.local_rank;
  json["node"] = end.node;
  json["pid"] = end.pid;
  if (end.exit_code) json["exit"] = *end.exit_code;
  if (end.signal) json["signal"] = *end.signal;
  if (end.core) json["core"] = true;
  json["ms"] = static_cast<std::int64_t>(end.seconds * 1000);
  if (!end.last_lines.empty()) json["lines"] = end.last_lines;
  if (end.nccl_last) json["nccl"] = *end.nccl_last;
  if (end.python_error) json["python"] = *end.python_error;
  if (end.oom_killed) json["oom"] = *end.oom_killed;
  return json;
}

std::optional<RankEnd> ToRankEnd(const Json& json) {
  const auto rank = Unsigned(json, "rank");
  const auto local = Unsigned(json, "local");
  const auto milliseconds = base::GetInteger(json, "ms");
  const auto code = Small(json, "exit");
  const auto signal = Small(json, "signal");
  if (!rank || !local || !milliseconds || code.has_value() == signal.has_value()) return std::nullopt;
  return RankEnd{.rank = *rank,
                 .local_rank = *local,
                 .node = Text(json, "node"),
                 .pid = base::GetInteger(json, "pid").value_or(0),
                 .exit_code = code,
                 .signal = signal,
                 .core = base::GetBool(json, "core").value_or(false),
                 .seconds = static_cast<double>(*milliseconds) / 1000,
                 .last_lines = Texts(base::GetMember(json, "lines")),
                 .nccl_last = base::GetString(json, "nccl"),
                 .python_error = base::GetString(json, "python"),
                 .oom_killed = base::GetBool(json, "oom")};
}

Json ToJson(const RankState& state) {
  Json json;
  json["rank"] = state.rank;
  json["node"] = state.node;
  json["pid"] = state.pid;
  json["state"] = state.state;
  json["line"] = state.last_line;
  if (!state.stack.empty()) json["stack"] = state.stack;
  return json;
}

std::optional<RankState> ToRankState(const Json& json) {
  const auto rank = Unsigned(json, "rank");
  if (!rank) return std::nullopt;
  return RankState{.rank = *rank,
                   .node = Text(json, "node"),
                   .pid = base::GetInteger(json, "pid").value_or(0),
                   .state = Text(json, "state"),
                   .last_line = Text(json, "line"),
                   .stack = Texts(base::GetMember(json, "stack"))};
}

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& one : values) list.push_back(ToJson(one));
  return list;
}

// False when an element is malformed, or there are too many.
template <typename T>
bool ReadList(const Json& list, std::size_t most, std::optional<T> (*convert)(const Json&), std::vector<T>* out) {
  if (list.is_null()) return true;
  if (!list.is_array() || list.size() > most) return false;
  for (const Json& one : list) {
    auto value = convert(one);
    if (!value) return false;
    out->push_back(std::move(*value));
  }
  return true;
}

bool ReadHello(const Json& json, Message* message) {
  const auto role = IndexOf(kRoles, base::GetString(json, "role"));
  const auto node = Unsigned(json, "node");
  const auto rank = Unsigned(json, "rank");
  if (!role || !node || !rank) return false;
  message->role = static_cast<Role>(*role);
  message->node = *node;
  message->rank = *rank;
  message->token = Text(json, "token");
  message->digest = Text(json, "digest");
  return true;
}

bool ReadMembers(const Json& json, Message* message) {
  switch (message->kind) {
    case Message::Kind::kHello:
      return ReadHello(json, message);
    case Message::Kind::kReady:
      message->more_problems = Unsigned(json, "more").value_or(0);
      return ReadList(base::GetMember(json, "problems"), kMostProblems, ToProblem, &message->problems);
    case Message::Kind::kFailed:
      message->end = ToRankEnd(base::GetMember(json, "end"));
      return message->end.has_value();
    case Message::Kind::kLost:
      message->lost = Texts(base::GetMember(json, "nodes"));
      return !message->lost.empty();
    case Message::Kind::kState:
      return ReadList(base::GetMember(json, "states"), kMostStates, ToRankState, &message->states);
    case Message::Kind::kEnd:
      message->status = Small(json, "status").value_or(-1);
      message->rank = Unsigned(json, "rank").value_or(kNobody);
      return message->status >= 0;
    default:
      return true;
  }
}

}  // namespace

std::string EncodeMessage(const Message& message) {
  Json json;
  json["t"] = NameOf(message.kind);
  if (message.kind == Message::Kind::kHello) {
    json["role"] = kRoles[static_cast<std::size_t>(message.role)];
    json["node"] = message.node;
    json["rank"] = message.rank;
    json["token"] = message.token;
    if (!message.digest.empty()) json["digest"] = message.digest;
  }
  if (!message.problems.empty()) json["problems"] = ListOf(message.problems);
  if (message.more_problems > 0) json["more"] = message.more_problems;
  if (message.end) json["end"] = ToJson(*message.end);
  if (!message.lost.empty()) json["nodes"] = message.lost;
  if (!message.states.empty()) json["states"] = ListOf(message.states);
  if (message.kind == Message::Kind::kEnd) {
    json["status"] = message.status;
    if (message.rank != kNobody) json["rank"] = message.rank;
  }
  return base::DumpJson(json);
}

Result<Message> DecodeMessage(std::string_view line) {
  const Error malformed{.code = Code::kInvalidInput,
                        .what = "not a message of this version of nccl-launch",
                        .seen = base::Shortened(line)};
  const auto json = base::ParseJson(line);
  if (!json.ok()) return malformed;
  const auto kind = KindOf(base::GetString(*json, "t"));
  if (!kind) return malformed;
  Message message{.kind = *kind};
  if (!ReadMembers(*json, &message)) return malformed;
  return message;
}

void AddProblems(const Message& more, Message* to) {
  to->more_problems += more.more_problems;
  for (const Problem& one : more.problems) {
    if (to->problems.size() < kMostProblems) {
      to->problems.push_back(one);
    } else {
      ++to->more_problems;
    }
  }
}

}  // namespace nccl_tune::launcher
