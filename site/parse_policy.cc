// SPDX-License-Identifier: Apache-2.0
#include "site/parse_policy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "site/document.h"
#include "site/read_rules.h"
#include "site/read_settings.h"
#include "site/section.h"

namespace nccl_tune::site {
namespace {

using policy::SiteCondition;
using policy::SiteFile;
using policy::SiteOverride;
using policy::SitePolicy;

// What the main part and every [[when]] block may hold.
constexpr Key<SitePolicy> kPolicyKeys[] = {
    {"mode", &ReadMode},
    {"gid_index", &ReadGidIndex},
    {"bootstrap", &ReadBootstrap},
    {"devices", &ReadDevices},
    {"interfaces", &ReadInterfaces},
    {"traffic_class", &ReadTrafficClass},
    {"variables", &ReadVariables},
    {"set", &ReadSet},
    {"profile", &ReadProfiles},
};
constexpr Key<SiteCondition> kConditionKeys[] = {
    {"partition", &ReadPartition},
    {"feature", &ReadFeature},
    {"nodes", &ReadNodes},
};

// The same keys for another owner, whose policy or condition they fill.
template <typename Owner, typename Part, Part Owner::*part>
void Forward(std::span<const Key<Part>> keys, const Entry& entry, Owner* out, Problems* problems) {
  const auto name = entry.key.substr(entry.key.rfind('.') + 1);
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
  found->read(entry, &(out->*part), problems);
}

void ReadIntoBlock(const Entry& entry, SiteOverride* out, Problems* problems) {
  Forward<SiteOverride, SitePolicy, &SiteOverride::keys>(kPolicyKeys, entry, out, problems);
}

void ReadIntoCondition(const Entry& entry, SiteOverride* out, Problems* problems) {
  Forward<SiteOverride, SiteCondition, &SiteOverride::condition>(kConditionKeys, entry, out, problems);
}

std::vector<Key<SiteOverride>> BlockKeys() {
  std::vector<Key<SiteOverride>> out;
  for (const auto& key : kConditionKeys) out.push_back({key.name, &ReadIntoCondition});
  for (const auto& key : kPolicyKeys) out.push_back({key.name, &ReadIntoBlock});
  return out;
}

bool SaysWhen(const Value& block) {
  return std::any_of(block.members.begin(), block.members.end(), [](const Member& member) {
    return std::any_of(std::begin(kConditionKeys), std::end(kConditionKeys),
                       [&](const auto& key) { return key.name == member.key; });
  });
}

bool HasOnly(const Value& block, const std::vector<Key<SiteOverride>>& keys) {
  return std::all_of(block.members.begin(), block.members.end(), [&](const Member& member) {
    return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.name == member.key; });
  });
}

void ReadWhen(const Entry& entry, SiteFile* out, Problems* problems) {
  const auto keys = BlockKeys();
  if (entry.value->kind == Value::Kind::kTable) {
    return problems->Add(entry, WrongValue("one table", "[when]", "a list of blocks: [[when]]"));
  }
  for (const Entry& item : TakeList(entry, problems)) {
    SiteOverride block;
    block.origin = item.origin();
    ReadTable<SiteOverride>(item, keys, &block, problems);
    const bool reads_all = item.value->kind == Value::Kind::kTable && HasOnly(*item.value, keys);
    if (reads_all && !SaysWhen(*item.value)) {  // else an unknown key may be the condition, and is told
      problems->Add(item, WrongValue("a block that does not say when", "no condition", "partition, feature or nodes"));
    }
    out->when.push_back(std::move(block));
  }
}

void ReadIntoFile(const Entry& entry, SiteFile* out, Problems* problems) {
  Forward<SiteFile, SitePolicy, &SiteFile::keys>(kPolicyKeys, entry, out, problems);
}

std::vector<Key<SiteFile>> FileKeys() {
  std::vector<Key<SiteFile>> out;
  for (const auto& key : kPolicyKeys) out.push_back({key.name, &ReadIntoFile});
  out.push_back({"when", &ReadWhen});
  return out;
}

int LineOf(const base::Error& error) {
  int line = 0;
  for (const char c : error.where.substr(error.where.rfind(':') + 1)) line = line * 10 + (c - '0');
  return line;
}

}  // namespace

CheckedPolicy CheckPolicy(std::string_view text, std::string_view name) {
  CheckedPolicy out;
  const auto document = ParseDocument(text, name);
  if (!document.ok()) {
    out.errors.push_back(document.error());
    return out;
  }
  Problems problems(name);
  const auto keys = FileKeys();
  ReadTable<SiteFile>({.value = &*document, .key = "", .line = 1}, keys, &out.file, &problems);
  CheckTogether(out.file.keys, out.file.keys, &problems);
  for (const SiteOverride& block : out.file.when) {
    CheckTogether(block.keys, Merge(out.file.keys, block.keys), &problems);
  }
  CheckSizes(out.file, &problems);
  out.errors = std::move(problems.errors());
  out.notes = std::move(problems.notes());
  std::stable_sort(out.errors.begin(), out.errors.end(),
                   [](const auto& a, const auto& b) { return LineOf(a) < LineOf(b); });
  return out;
}

base::Error FirstError(const std::vector<base::Error>& errors) {
  base::Error first = errors.front();
  const std::size_t more = errors.size() - 1;
  if (more == 0) return first;
  first.hint += (first.hint.empty() ? "" : " ") + std::to_string(more) + (more == 1 ? " more fault" : " more faults") +
                ": see nccl-tune check-policy";
  return first;
}

base::Result<SiteFile> ParsePolicy(std::string_view text, std::string_view name) {
  CheckedPolicy checked = CheckPolicy(text, name);
  if (!checked.errors.empty()) return FirstError(checked.errors);
  return std::move(checked.file);
}

std::vector<std::string> PolicyKeys() {
  std::vector<std::string> out;
  const auto below = [&](const std::string& table, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) out.push_back(table + "." + key);
  };
  for (const auto& key : kPolicyKeys) out.emplace_back(key.name);
  below("devices", DeviceKeys());
  below("interfaces", InterfaceKeys());
  below("traffic_class", TrafficClassKeys());
  below("variables", VariablesKeys());
  for (const auto& key : kConditionKeys) out.push_back("when[]." + std::string(key.name));
  return out;
}

}  // namespace nccl_tune::site
