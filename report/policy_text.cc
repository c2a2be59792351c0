// SPDX-License-Identifier: Apache-2.0
#include "report/policy_text.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/facts/ip_address.h"
#include "core/policy/host_list.h"
#include "report/wrap.h"

namespace nccl_tune::report {
namespace {

constexpr std::size_t kIndent = 17;

std::string Line(std::string_view label, std::string_view text) {
  return Wrap("  " + std::string(label), kIndent, text);
}

std::string Counted(std::size_t count, std::string_view noun, std::string_view nouns) {
  return std::to_string(count) + " " + std::string(count == 1 ? noun : nouns);
}

std::string Join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// "only 2 entries, without 1 entry"; empty when neither list says something.
template <typename Matcher>
std::string Lists(const std::optional<std::vector<Matcher>>& include,
                  const std::optional<std::vector<Matcher>>& exclude) {
  std::vector<std::string> parts;
  if (include) parts.push_back("only what " + Counted(include->size(), "entry names", "entries name"));
  if (include && include->empty()) parts.back() = "no limit";
  if (exclude) parts.push_back("without what " + Counted(exclude->size(), "entry names", "entries name"));
  return Join(parts);
}

std::string Names(const std::vector<policy::Stated<std::string>>& globs) {
  std::vector<std::string> names;
  for (const auto& glob : globs) names.push_back(glob.value);
  return Join(names);
}

std::string Values(const policy::Variables& variables) {
  std::vector<std::string> out;
  for (const auto& [name, stated] : variables) out.push_back(name + "=" + stated.value);
  return Join(out);
}

std::string Bootstrap(const std::variant<std::string, facts::IpPrefix>& value) {
  const auto* name = std::get_if<std::string>(&value);
  return name != nullptr ? *name : "the interface in " + std::get<facts::IpPrefix>(value).ToString();
}

std::string TrafficClass(const policy::SitePolicy& keys) {
  std::vector<std::string> out;
  if (keys.tc) out.push_back("tc " + std::to_string(keys.tc->value));
  if (keys.sl) out.push_back("sl " + std::to_string(keys.sl->value));
  if (keys.fifo_tc) out.push_back("fifo_tc " + std::to_string(keys.fifo_tc->value));
  return Join(out);
}

std::string KeysText(const policy::SitePolicy& keys) {
  std::string out;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += Line(label, text);
  };
  if (keys.mode) add("mode", std::string(ToText(keys.mode->value)));
  if (keys.gid_index) add("gid_index", std::string(ToText(keys.gid_index->value)));
  if (keys.bootstrap) add("bootstrap", Bootstrap(keys.bootstrap->value));
  add("devices", Lists(keys.include_devices, keys.exclude_devices));
  add("interfaces", Lists(keys.include_interfaces, keys.exclude_interfaces));
  add("traffic class", TrafficClass(keys));
  if (keys.allow) add("may be set", keys.allow->empty() ? "all" : Names(*keys.allow));
  if (keys.deny) add("never set", keys.deny->empty() ? "none" : Names(*keys.deny));
  add("set", Values(keys.set));
  for (const auto& [name, variables] : keys.profiles) {
    add("profile", name + ": " + (variables.empty() ? "nothing" : Values(variables)));
  }
  return out.empty() ? "  nothing\n" : out;
}

}  // namespace

std::string ConditionText(const policy::SiteCondition& condition) {
  std::vector<std::string> out;
  const auto add = [&](const char* noun, const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? " " : " or ") + name;
    if (!text.empty()) out.push_back(noun + text);
  };
  add("partition", condition.partitions);
  add("feature", condition.features);
  if (condition.nodes) out.push_back("nodes " + condition.nodes->text());
  return Join(out);
}

std::string PolicyText(const policy::SiteFile& file) {
  std::string out = "Everywhere\n" + KeysText(file.keys);
  for (const policy::SiteOverride& block : file.when) {
    const std::string line = " (line " + std::to_string(block.origin.line) + ")";
    out += "\n" + Wrap("", 0, "Where " + ConditionText(block.condition) + line) + KeysText(block.keys);
  }
  return out;
}

}  // namespace nccl_tune::report
