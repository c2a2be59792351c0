// SPDX-License-Identifier: Apache-2.0
#include "spank/report_protocol.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/parse_number.h"

namespace nccl_tune::spank {
namespace {

constexpr std::size_t kTokenLength = 32;
constexpr std::size_t kMostAddresses = 8;
constexpr std::size_t kLongestNode = 255;

base::Error Wrong(std::string what) { return {.code = base::Code::kInvalidInput, .what = std::move(what)}; }

bool IsToken(std::string_view text) {
  return text.size() == kTokenLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string ToText(const CollectorPlace& place) {
  std::string out = std::to_string(place.port) + ":" + place.token + ":";
  for (const auto& address : place.addresses) out += (out.ends_with(':') ? "" : ",") + address.ToString();
  return out;
}

base::Result<CollectorPlace> ParseCollectorPlace(std::string_view text) {
  constexpr int kLastPort = 65535;
  const auto first = text.find(':');
  const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) return Wrong("not PORT:TOKEN:ADDRESSES");
  CollectorPlace out;
  const auto port = base::ParseInteger<int>(text.substr(0, first));
  if (!port.ok() || *port < 1 || *port > kLastPort) return Wrong("not a port");
  out.port = *port;
  out.token = text.substr(first + 1, second - first - 1);
  if (!IsToken(out.token)) return Wrong("not a token");
  std::string_view rest = text.substr(second + 1);
  while (!rest.empty() || out.addresses.empty()) {
    // "," separates, and ":" stands in addresses of IPv6: that of IPv4 first is told by its own form.
    const auto end = std::min(rest.find(','), rest.size());
    const auto address = facts::ParseIpAddress(rest.substr(0, end));
    if (!address.ok()) return Wrong("not an address");
    if (out.addresses.size() == kMostAddresses) return Wrong("too many addresses");
    out.addresses.push_back(*address);
    if (end + 1 == rest.size()) return Wrong("not an address");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string ToLine(const Report& report, std::string_view token) {
  base::Json out;
  out["token"] = token;
  out["node"] = report.node;
  out["key"] = report.key;
  out["text"] = report.text;
  return base::DumpJson(out) + "\n";
}

base::Result<Report> ParseReport(std::string_view line, std::string_view token) {
  if (line.size() > kReportLimit) return Wrong("too long a report");
  const auto json = base::ParseJson(line);
  if (!json.ok()) return Wrong("not a report");
  const auto given = base::GetString(*json, "token");
  if (!given || *given != token) return base::Error{.code = base::Code::kForbidden, .what = "not of this step"};
  const auto node = base::GetString(*json, "node");
  const auto key = base::GetString(*json, "key");
  const auto text = base::GetString(*json, "text");
  if (!node || node->empty() || node->size() > kLongestNode || !key || !text)
    return Wrong("a report without its parts");
  return Report{.node = *node, .key = *key, .text = *text};
}

}  // namespace nccl_tune::spank
