// SPDX-License-Identifier: Apache-2.0
//
// The JSON side of IpFacts.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/parse_number.h"
#include "hw/ip_facts.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::Result;
using Notes = std::vector<facts::Note>;

constexpr std::size_t kFileLimit = 8 << 20;
constexpr int kLastVlan = 4094;

Result<Json> ParseArray(std::string_view text, std::string_view command) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, base::ParseJson(text));
  if (!json.is_array()) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not a JSON array",
                 .seen = std::string(text.substr(0, 40)),
                 .expected = "what " + std::string(command) + " prints"};
  }
  return json;
}

Result<facts::InterfaceAddress> ReadAddress(const Json& entry) {
  const auto local = base::GetString(entry, "local");
  const auto length = base::GetInteger(entry, "prefixlen");
  if (!local || !length) return Error{.code = Code::kInvalidInput, .what = "address without local or prefixlen"};
  NCCL_TUNE_ASSIGN_OR_RETURN(address, facts::ParseIpAddress(*local));
  NCCL_TUNE_ASSIGN_OR_RETURN(prefix, facts::MakePrefix(address, *length));
  return facts::InterfaceAddress{.prefix = prefix, .link_scope = base::GetString(entry, "scope") == "link"};
}

bool HasFlag(const Json& entry, std::string_view flag) {
  const Json& flags = base::GetMember(entry, "flags");
  return std::any_of(flags.begin(), flags.end(),
                     [&](const Json& f) { return f.is_string() && f == std::string(flag); });
}

InterfaceFacts ReadInterface(const Json& entry, const std::string& name, Notes* notes) {
  InterfaceFacts out;
  out.name = name;
  const auto index = base::GetInteger(entry, "ifindex").value_or(0);
  out.ifindex = index > 0 && index <= std::numeric_limits<int>::max() ? static_cast<int>(index) : 0;
  if (base::GetMember(entry, "flags").is_array()) out.up = HasFlag(entry, "UP");
  out.kind = base::GetString(base::GetMember(entry, "linkinfo"), "info_kind").value_or("");
  out.link_type = base::GetString(entry, "link_type").value_or("");
  out.master = base::GetString(entry, "master");
  out.parent = base::GetString(entry, "link");
  const Json& data = base::GetMember(base::GetMember(entry, "linkinfo"), "info_data");
  const auto vlan = base::GetInteger(data, "id").value_or(-1);
  if (out.kind == "vlan" && vlan >= 0 && vlan <= kLastVlan) out.vlan_id = static_cast<int>(vlan);
  for (const Json& item : base::GetMember(entry, "addr_info")) {
    auto address = ReadAddress(item);
    if (address.ok()) {
      out.addresses.push_back(*address);
    } else {
      notes->push_back({.where = "ip-addr.json: " + base::Printable(name), .what = address.error().ToString()});
    }
  }
  return out;
}

// The interfaces of a route: one, or one a hop where several share the load.
std::vector<std::string> InterfacesOf(const Json& entry) {
  std::vector<std::string> out;
  if (const auto one = base::GetString(entry, "dev")) out.push_back(*one);
  for (const Json& hop : base::GetMember(entry, "nexthops")) {
    if (const auto one = base::GetString(hop, "dev")) out.push_back(*one);
  }
  return out;
}

// Without its interface.
Result<facts::Route> ReadRoute(const Json& entry) {
  facts::Route out;
  const auto metric = base::GetInteger(entry, "metric").value_or(0);
  out.metric =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(metric, 0, std::numeric_limits<std::uint32_t>::max()));
  const std::string text = base::GetString(entry, "dst").value_or("");
  if (text == "default") return out;
  const auto slash = text.find('/');
  NCCL_TUNE_ASSIGN_OR_RETURN(address, facts::ParseIpAddress(text.substr(0, slash)));
  auto length = Result<std::int64_t>(address.IsV4() ? 32 : 128);
  if (slash != std::string::npos) length = base::ParseInteger<std::int64_t>(std::string_view(text).substr(slash + 1));
  if (!length.ok()) return length.error();
  NCCL_TUNE_ASSIGN_OR_RETURN(prefix, facts::MakePrefix(address, *length));
  out.destination = prefix.Network();
  return out;
}

// An array with a line for each entry: short enough to read, and a diff shows what changed.
std::string OneLineEach(const Json& array) {
  std::string out;
  for (const Json& entry : array) out += (out.empty() ? "[" : ",\n ") + base::DumpJson(entry);
  return (out.empty() ? "[" : out) + "]";
}

}  // namespace

Result<std::vector<InterfaceFacts>> ParseIpAddr(std::string_view text, Notes* notes) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, ParseArray(text, "ip -j addr"));
  std::vector<InterfaceFacts> out;
  for (const Json& entry : json) {
    const auto name = base::GetString(entry, "ifname");
    if (name && !name->empty()) {
      out.push_back(ReadInterface(entry, *name, notes));
    } else if (!entry.empty()) {  // ip prints {} for what it filtered
      notes->push_back({.where = "ip-addr.json", .what = "entry without ifname"});
    }
  }
  return out;
}

Result<std::vector<facts::Route>> ParseIpRoute(std::string_view text, Notes* notes) {
  NCCL_TUNE_ASSIGN_OR_RETURN(json, ParseArray(text, "ip -j route"));
  std::vector<facts::Route> out;
  for (const Json& entry : json) {
    const auto interfaces = InterfacesOf(entry);
    auto route = interfaces.empty()
                     ? Result<facts::Route>(Error{.code = Code::kInvalidInput, .what = "route without dev"})
                     : ReadRoute(entry);
    if (route.ok()) {
      for (const auto& interface : interfaces) {
        route.value().interface = interface;
        out.push_back(*route);
      }
    } else {
      notes->push_back({.where = "ip-route.json", .what = route.error().ToString()});
    }
  }
  return out;
}

IpFacts ReadIpFiles(const Tree& tree, Notes* notes) {
  IpFacts out;
  const auto note = [notes](const char* file, const Error& error) {
    notes->push_back(
        {.where = file, .what = error.what + (error.seen.empty() ? "" : ": \"" + base::Printable(error.seen) + "\"")});
  };
  const auto addr = tree.Read("ip-addr.json", kFileLimit);
  if (!addr.ok()) {
    note("ip-addr.json", addr.error());
  } else {
    auto parsed = ParseIpAddr(*addr, notes);
    if (parsed.ok())
      out.interfaces = std::move(parsed).value();
    else
      note("ip-addr.json", parsed.error());
  }
  const auto route = tree.Read("ip-route.json", kFileLimit);
  if (!route.ok()) {
    note("ip-route.json", route.error());
  } else {
    auto parsed = ParseIpRoute(*route, notes);
    if (parsed.ok())
      out.routes = std::move(parsed).value();
    else
      note("ip-route.json", parsed.error());
  }
  out.dcb = DcbFiles(tree, notes);
  return out;
}

std::string WriteIpAddr(const std::vector<InterfaceFacts>& interfaces) {
  Json out = Json::array();
  for (const auto& i : interfaces) {
    Json entry;
    entry["ifindex"] = i.ifindex;
    entry["ifname"] = i.name;
    if (i.up) entry["flags"] = *i.up ? Json::array({"UP"}) : Json::array();
    if (!i.link_type.empty()) entry["link_type"] = i.link_type;
    if (!i.kind.empty()) entry["linkinfo"]["info_kind"] = i.kind;
    if (i.vlan_id) entry["linkinfo"]["info_data"]["id"] = *i.vlan_id;
    if (i.master) entry["master"] = *i.master;
    if (i.parent) entry["link"] = *i.parent;
    entry["addr_info"] = Json::array();
    for (const auto& a : i.addresses) {
      entry["addr_info"].push_back({{"family", a.prefix.address.IsV4() ? "inet" : "inet6"},
                                    {"local", a.prefix.address.ToString()},
                                    {"prefixlen", a.prefix.length},
                                    {"scope", a.link_scope ? "link" : "global"}});
    }
    out.push_back(std::move(entry));
  }
  return OneLineEach(out);
}

std::string WriteIpRoute(const std::vector<facts::Route>& routes) {
  Json out = Json::array();
  for (const auto& r : routes) {
    Json entry;
    entry["dst"] = r.destination ? r.destination->ToString() : "default";
    entry["dev"] = r.interface;
    if (r.metric != 0) entry["metric"] = r.metric;
    entry["flags"] = Json::array();
    out.push_back(std::move(entry));
  }
  return OneLineEach(out);
}

}  // namespace nccl_tune::hw
