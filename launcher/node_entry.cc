// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_entry.h"

#include <limits>

#include "base/json.h"
#include "core/facts/ip_address.h"
#include "launcher/rank_list.h"

namespace nccl_tune::launcher {
namespace {

using base::Error;
using base::Json;
using base::Result;
using Values = std::map<std::string, std::string>;

constexpr std::int64_t kVersion = 2;
constexpr std::string_view kPrefix = "NCCL_";

// NCCL's own names travel without their beginning, others behind a dot.
std::string ShortName(const std::string& name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "." + name;
}

std::string LongName(std::string_view name) {
  return name.starts_with('.') ? std::string(name.substr(1)) : std::string(kPrefix) + std::string(name);
}

Json ToJson(const Values& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) out[ShortName(name)] = value;
  return out;
}

std::string Letters(const Changeable& changeable) {
  std::string out;
  if (changeable.rails) out += 'h';
  if (changeable.gid) out += 'g';
  if (changeable.traffic_class) out += 't';
  if (changeable.interface) out += 'i';
  return out;
}

Error Malformed(std::string_view member, std::string_view text) {
  return {.code = base::Code::kInvalidInput,
          .what = member.empty() ? "not an entry of this version of nccl-launch"
                                 : "an entry of nccl-launch whose \"" + std::string(member) + "\" is wrong",
          .seen = base::Shortened(text),
          .hint = "Do all nodes have the same nccl-launch?"};
}

// One entry's members; the first that is wrong is remembered.
class Reader {
 public:
  Reader(const Json& json, std::string_view text) : json_(json), text_(text) {}

  const std::optional<Error>& error() const { return error_; }
  bool Fail(std::string_view member) {
    if (!error_) error_ = Malformed(member, text_);
    return false;
  }

  std::string Text(const char* member) {
    const auto text = OptionalText(member);
    if (!text) Fail(member);
    return text.value_or("");
  }

  std::optional<std::string> OptionalText(const char* member) {
    if (base::GetMember(json_, member).is_null()) return std::nullopt;
    auto text = base::GetString(json_, member);
    if (!text) Fail(member);
    return text;
  }

  // T: an unsigned number.
  template <typename T>
  std::optional<T> OptionalNumber(const char* member) {
    if (base::GetMember(json_, member).is_null()) return std::nullopt;
    const auto number = base::GetInteger(json_, member);
    if (number && *number >= 0 && *number <= std::int64_t{std::numeric_limits<T>::max()})
      return static_cast<T>(*number);
    Fail(member);
    return std::nullopt;
  }

  bool Flag(const char* member) {
    const Json& value = base::GetMember(json_, member);
    if (value.is_null()) return false;
    return value.is_boolean() ? base::GetBool(json_, member).value_or(false) : Fail(member);
  }

  Values Variables(const char* member) {
    Values out;
    const Json& values = base::GetMember(json_, member);
    if (values.is_null()) return out;
    if (!values.is_object() || values.size() > kMostVariables + 1) Fail(member);
    if (error_) return out;
    for (const auto& [name, value] : values.items()) {
      if (!value.is_string()) Fail(member);
      if (value.is_string()) out[LongName(name)] = *value.get_ptr<const Json::string_t*>();
    }
    return out;
  }

 private:
  const Json& json_;
  std::string_view text_;
  std::optional<Error> error_;
};

Changeable ReadChangeable(Reader* reader) {
  Changeable out;
  for (const char letter : reader->OptionalText("own").value_or("")) {
    bool* const flag = letter == 'h'   ? &out.rails
                       : letter == 'g' ? &out.gid
                       : letter == 't' ? &out.traffic_class
                       : letter == 'i' ? &out.interface
                                       : nullptr;
    if (flag == nullptr || *flag) reader->Fail("own");
    if (flag != nullptr) *flag = true;
  }
  return out;
}

void ReadPlace(Reader* reader, NodeEntry* out) {
  out->node = reader->Text("n");
  if (out->node.empty()) reader->Fail("n");
  const auto id = reader->OptionalNumber<std::uint32_t>("i");
  if (!id) reader->Fail("i");
  out->node_id = id.value_or(0);
  out->ranks = reader->Text("r");
  if (!ParseRankList(out->ranks).ok()) reader->Fail("r");
  out->address = reader->OptionalText("a");
  out->port = reader->OptionalNumber<std::uint16_t>("p");
  out->network = reader->OptionalText("net");
  if (out->network && !facts::ParseIpPrefix(*out->network).ok()) reader->Fail("net");
  out->on_rail = reader->Flag("rail");
  out->planned = reader->Flag("plan");
}

void ReadFacts(Reader* reader, NodeEntry* out) {
  auto rails = DecodeRails(reader->OptionalText("k").value_or(""), reader->OptionalText("w").value_or(""));
  if (!rails.ok()) reader->Fail("k");
  out->rails = std::move(rails).value_or({});
  auto layout = DecodeLayout(reader->OptionalText("l").value_or(""));
  if (!layout.ok()) reader->Fail("l");
  out->layout = std::move(layout).value_or("");
  out->planned_values = reader->Variables("set");
  out->user_values = reader->Variables("user");
  out->nccl = reader->OptionalText("nccl");
  out->driver = reader->OptionalText("drv");
  out->gpus = reader->OptionalNumber<std::uint32_t>("gpus");
  out->gpu_model = reader->OptionalText("gpu");
  out->version = reader->Text("us");
}

void AddFacts(const NodeEntry& entry, Json* json) {
  auto& out = *json;
  if (!entry.rails.empty()) out["k"] = EncodeKinds(entry.rails);
  if (!entry.rails.empty()) out["w"] = EncodeNetworks(entry.rails);
  if (!entry.layout.empty()) out["l"] = EncodeLayout(entry.layout);
  if (!entry.planned_values.empty()) out["set"] = ToJson(entry.planned_values);
  if (!entry.user_values.empty()) out["user"] = ToJson(entry.user_values);
  if (entry.nccl) out["nccl"] = *entry.nccl;
  if (entry.driver) out["drv"] = *entry.driver;
  if (entry.gpus) out["gpus"] = *entry.gpus;
  if (entry.gpu_model) out["gpu"] = *entry.gpu_model;
  out["us"] = entry.version;
}

}  // namespace

std::string EncodeEntry(const NodeEntry& entry) {
  Json out;
  out["v"] = kVersion;
  out["n"] = entry.node;
  out["i"] = entry.node_id;
  out["r"] = entry.ranks;
  if (entry.address) out["a"] = *entry.address;
  if (entry.port) out["p"] = *entry.port;
  if (entry.network) out["net"] = *entry.network;
  if (entry.on_rail) out["rail"] = true;
  if (entry.planned) out["plan"] = true;
  if (auto letters = Letters(entry.changeable); !letters.empty()) out["own"] = std::move(letters);
  AddFacts(entry, &out);
  return base::DumpJson(out);
}

Result<NodeEntry> DecodeNodeEntry(std::string_view text) {
  if (text.size() > kEntryLimit) return Malformed("", text);
  const auto json = base::ParseJson(text);
  if (!json.ok() || base::GetInteger(*json, "v") != kVersion) return Malformed("", text);
  Reader reader(*json, text);
  NodeEntry out;
  ReadPlace(&reader, &out);
  out.changeable = ReadChangeable(&reader);
  ReadFacts(&reader, &out);
  if (reader.error()) return *reader.error();
  return out;
}

}  // namespace nccl_tune::launcher
