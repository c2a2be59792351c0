// SPDX-License-Identifier: Apache-2.0
//
// The JSON side of DCB: what iproute2's `dcb -j` prints.
#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "hw/dcb.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::Result;

constexpr int kPriorities = 8;
constexpr int kDscps = 64;
constexpr std::string_view kFolder = "dcb";

Error Odd(std::string what, const Json& seen, std::string expected) {
  constexpr std::size_t kShown = 60;
  return {.code = Code::kInvalidInput,
          .what = std::move(what),
          .seen = base::DumpJson(seen).substr(0, kShown),
          .expected = std::move(expected)};
}

Result<Json> ParseObject(std::string_view text, std::string_view command) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, base::ParseJson(text));
  if (!json.is_object()) return Odd("not a JSON object", json, "what " + std::string(command) + " prints");
  return json;
}

// A whole number from 0 to below `limit`.
std::optional<int> Below(const Json& number, int limit) {
  if (!number.is_number_integer()) return std::nullopt;
  for (int i = 0; i < limit; ++i) {
    if (number == i) return i;
  }
  return std::nullopt;
}

Result<std::uint8_t> ReadPfc(std::string_view text) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, ParseObject(text, "dcb -j pfc show"));
  const Json& priorities = base::GetMember(json, "prio_pfc");
  const bool whole = priorities.is_array() && priorities.size() == kPriorities &&
                     std::all_of(priorities.begin(), priorities.end(), [](const Json& p) { return p.is_boolean(); });
  if (!whole) return Odd("no prio_pfc", priorities, "8 times true or false");
  std::uint8_t out = 0;
  for (int i = 0; i < kPriorities; ++i) {
    if (priorities[static_cast<std::size_t>(i)] == true) out = static_cast<std::uint8_t>(out | 1 << i);
  }
  return out;
}

Result<std::vector<facts::DscpPriority>> ReadApp(std::string_view text) {
  std::vector<facts::DscpPriority> out;
  if (text.empty()) return out;
  NCCL_TUNE_ASSIGN_OR_RETURN(json, ParseObject(text, "dcb -j app show"));
  const Json& entries = base::GetMember(json, "dscp_prio");
  if (!entries.is_array() && !entries.is_null()) return Odd("dscp_prio is no array", entries, "[[DSCP,priority],...]");
  for (const Json& entry : entries) {
    const bool pair = entry.is_array() && entry.size() == 2;
    const auto dscp = pair ? Below(entry[0], kDscps) : std::nullopt;
    const auto priority = pair ? Below(entry[1], kPriorities) : std::nullopt;
    if (!dscp || !priority) return Odd("an odd entry in dscp_prio", entry, "[0 to 63,0 to 7]");
    out.push_back({.dscp = *dscp, .priority = *priority});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The file's text, or nothing where there is none.
std::optional<std::string> ReadFile(const Tree& tree, const std::string& path, std::vector<facts::Note>* notes) {
  auto text = tree.Read(path);
  if (text.ok()) return std::move(text).value();
  if (text.error().code != Code::kNotFound) notes->push_back({.where = path, .what = text.error().what});
  return std::nullopt;
}

}  // namespace

Result<facts::Dcb> ParseDcbJson(std::string_view pfc, std::string_view app) {
  facts::Dcb out;
  NCCL_TUNE_ASSIGN_OR_RETURN(priorities, ReadPfc(pfc));
  NCCL_TUNE_ASSIGN_OR_RETURN(entries, ReadApp(app));
  out.pfc = priorities;
  out.dscp = std::move(entries);
  return out;
}

DcbSource DcbFiles(const Tree& tree, std::vector<facts::Note>* notes) {
  std::map<std::string, facts::Dcb> all;
  for (const auto& name : tree.List(kFolder).value_or({})) {
    const std::string folder = std::string(kFolder) + "/" + name;
    const auto pfc = ReadFile(tree, folder + "/pfc.json", notes);
    if (!pfc) continue;
    const auto app = ReadFile(tree, folder + "/app.json", notes);
    auto parsed = ParseDcbJson(*pfc, app.value_or(""));
    if (parsed.ok())
      all.emplace(name, std::move(parsed).value());
    else
      notes->push_back({.where = base::Printable(folder), .what = parsed.error().ToString()});
  }
  return [all = std::move(all)](const std::string& interface, std::vector<facts::Note>*) {
    const auto found = all.find(interface);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string WriteDcbPfc(const facts::Dcb& dcb) {
  Json out;
  out["prio_pfc"] = Json::array();
  for (int i = 0; i < kPriorities; ++i) out["prio_pfc"].push_back((dcb.pfc >> i & 1) != 0);
  return base::DumpJson(out);
}

std::string WriteDcbApp(const facts::Dcb& dcb) {
  Json out = Json::object();
  for (const auto& entry : dcb.dscp) out["dscp_prio"].push_back(Json::array({entry.dscp, entry.priority}));
  return base::DumpJson(out);
}

}  // namespace nccl_tune::hw
