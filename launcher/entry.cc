// SPDX-License-Identifier: Apache-2.0
#include "launcher/entry.h"

#include <limits>

#include "base/json.h"
#include "launcher/hash.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Json;
using base::Result;

constexpr std::int64_t kVersion = 1;

// The plan as JSON, null when there is none that can be read.
Json ReadPlan(const Environment& environment) {
  const auto text = base::Lookup(environment, "NCCL_TUNE_PLAN");
  if (!text) return Json();
  auto plan = base::ParseJson(*text);
  if (!plan.ok() || base::GetInteger(*plan, "v") != kVersion) return Json();
  return std::move(plan).value();
}

// Of the variables that the plan sets, what they are: a container or a task prolog may have had the last word.
std::map<std::string, std::string> PlannedVariables(const Json& plan, const Environment& environment) {
  std::map<std::string, std::string> variables;
  const Json& set = base::GetMember(plan, "set");
  for (const auto& [name, value] : set.items()) {
    const auto now = base::Lookup(environment, name);
    if (now) variables[name] = *now;
  }
  return variables;
}

std::map<std::string, std::string> TextMembers(const Json& object) {
  std::map<std::string, std::string> members;
  if (!object.is_object()) return members;
  for (const auto& item : object.items()) {
    const auto text = base::GetString(object, item.key());
    if (text) members[item.key()] = *text;
  }
  return members;
}

std::map<std::string, std::string> NcclVariables(const Environment& environment) {
  std::map<std::string, std::string> variables;
  for (auto one = environment.lower_bound("NCCL_"); one != environment.end(); ++one) {
    if (!one->first.starts_with("NCCL_")) break;
    if (!one->first.starts_with("NCCL_TUNE_")) variables.insert(*one);
  }
  return variables;
}

std::string Digest(const std::map<std::string, std::string>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += name + "=" + value + "\n";
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digest;
  for (std::uint64_t hash = HashText(text), left = 16; left > 0; --left, hash <<= 4U) digest += kDigits[hash >> 60U];
  return digest;
}

// Member `name` as a number of type T, if it is one.
template <typename T>
std::optional<T> Number(const Json& json, std::string_view name) {
  const auto number = base::GetInteger(json, name);
  if (!number || *number < 0 || *number > std::numeric_limits<T>::max()) return std::nullopt;
  return static_cast<T>(*number);
}

}  // namespace

Entry DescribeTask(const pmix::Step& step, const Environment& environment) {
  Entry entry{.node_id = step.node_id, .local_rank = step.local_rank, .node = step.node};
  const Json plan = ReadPlan(environment);
  entry.planned = plan.is_object();
  auto settings = entry.planned ? PlannedVariables(plan, environment) : NcclVariables(environment);
  entry.digest = Digest(settings);
  if (step.local_rank == 0) entry.settings = std::move(settings);
  return entry;
}

std::string EncodeEntry(const Entry& entry) {
  Json json;
  json["v"] = kVersion;
  json["node"] = entry.node;
  json["id"] = entry.node_id;
  json["local"] = entry.local_rank;
  json["planned"] = entry.planned;
  json["digest"] = entry.digest;
  if (!entry.settings.empty()) json["set"] = entry.settings;
  if (entry.network) json["net"] = *entry.network;
  if (entry.on_rail) json["rail"] = true;
  if (entry.address) json["addr"] = *entry.address;
  if (entry.port) json["port"] = *entry.port;
  return base::DumpJson(json);
}

Result<Entry> DecodeEntry(std::string_view text) {
  const Error malformed{.code = Code::kInvalidInput,
                        .what = "not an entry of this version of nccl-launch",
                        .seen = std::string(text),
                        .hint = "Do all nodes have the same nccl-launch?"};
  const auto json = base::ParseJson(text);
  if (!json.ok() || base::GetInteger(*json, "v") != kVersion) return malformed;
  const auto node = base::GetString(*json, "node");
  const auto node_id = Number<std::uint32_t>(*json, "id");
  const auto local_rank = Number<std::uint32_t>(*json, "local");
  const auto planned = base::GetBool(*json, "planned");
  const auto digest = base::GetString(*json, "digest");
  if (!node || !node_id || !local_rank || !planned || !digest) return malformed;
  return Entry{.node_id = *node_id,
               .local_rank = *local_rank,
               .node = *node,
               .planned = *planned,
               .digest = *digest,
               .settings = TextMembers(base::GetMember(*json, "set")),
               .network = base::GetString(*json, "net"),
               .on_rail = base::GetBool(*json, "rail").value_or(false),
               .address = base::GetString(*json, "addr"),
               .port = Number<std::uint16_t>(*json, "port")};
}

std::optional<std::string> PlanText(const Environment& environment, std::string_view name) {
  return base::GetString(ReadPlan(environment), name);
}

}  // namespace nccl_tune::launcher
