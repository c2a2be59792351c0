// SPDX-License-Identifier: Apache-2.0
#include "site/read_settings.h"

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "core/nccl/settable.h"
#include "core/nccl/variables.h"
#include "core/policy/glob.h"

namespace nccl_tune::site {
namespace {

using policy::GidIndexRule;
using policy::SiteMode;
using policy::SitePolicy;
using policy::Stated;
using policy::Variables;

constexpr std::size_t kMostTogether = 4096;  // bytes of names and values: half of what NCCL_TUNE_PLAN can hold

std::vector<std::string_view> KnownNames() {
  std::vector<std::string_view> out;
  for (const auto& variable : nccl::AllVariables()) out.push_back(variable.name);
  return out;
}

// Whether a variable of this name may stand in a policy; else a problem.
bool CheckVariableName(const Entry& entry, std::string_view name, Problems* problems) {
  const auto checked = nccl::CheckSettableName(name);
  if (!checked.ok()) {
    problems->Add(entry, checked.error());
    return false;
  }
  if (nccl::IsKnownName(name)) return true;
  const std::string hint = nccl::DidYouMean(name);
  problems->Note(entry, "not a variable that we know, so its value is not checked" + (hint.empty() ? "" : "; " + hint));
  return true;
}

// The value as the environment would hold it.
std::optional<std::string> TakeValue(const Entry& entry, Problems* problems) {
  if (entry.value->kind == Value::Kind::kInteger) return std::to_string(entry.value->integer);
  if (entry.value->kind == Value::Kind::kText) return entry.value->text;
  problems->Add(entry, WrongValue("wrong type", Show(*entry.value), "a text in quotes, or a whole number"));
  return std::nullopt;
}

// A list of names that NCCL takes for prefixes, where its writer will have meant them exactly.
void NotePrefixes(const Entry& entry, std::string_view name, const std::string& value, Problems* problems) {
  if ((name != "NCCL_IB_HCA" && name != "NCCL_SOCKET_IFNAME") || value.empty()) return;
  if (value.front() == '=' || value.front() == '^' || value.back() < '0' || value.back() > '9') return;
  const std::string last = value.substr(value.find_last_of(",") + 1);
  if (last.find(':') != std::string::npos) return;
  problems->Note(entry,
                 "NCCL takes each name for a prefix: " + last + " is " + last + "0 too. Exactly these: =" + value);
}

void ReadVariable(const Entry& entry, const std::string& name, Variables* out, Problems* problems) {
  if (!CheckVariableName(entry, name, problems)) return;
  const auto value = TakeValue(entry, problems);
  if (!value) return;
  const auto checked = nccl::CheckSettableValue(name, *value);
  if (!checked.ok()) return problems->Add(entry, checked.error());
  NotePrefixes(entry, name, *value, problems);
  (*out)[name] = {.value = *value, .origin = entry.origin()};
}

void ReadVariableTable(const Entry& entry, Variables* out, Problems* problems) {
  if (!TakeTable(entry, problems)) return;
  for (const Member& member : entry.value->members) ReadVariable(entry.Under(member), member.key, out, problems);
}

// One of a few words; `words` and `values` run side by side.
template <typename T>
void ReadWord(const Entry& entry, std::span<const T> values, std::optional<Stated<T>>* out, Problems* problems) {
  std::vector<std::string_view> words;
  std::string expected;
  for (const T value : values) {
    words.push_back(policy::ToText(value));
    expected += (expected.empty() ? "" : ", ") + std::string(words.back());
  }
  const std::string* text = &entry.value->text;
  if (entry.value->kind != Value::Kind::kText)
    return problems->Add(entry, WrongValue("wrong type", Show(*entry.value), expected + ", in quotes"));
  for (const T value : values) {
    if (policy::ToText(value) != *text) continue;
    *out = {.value = value, .origin = entry.origin()};
    return;
  }
  const std::string_view nearest = base::Nearest(*text, words);
  problems->Add(entry, WrongValue("no such value", *text, expected,
                                  nearest.empty() ? "" : "Did you mean " + std::string(nearest) + "?"));
}

void ReadClass(const Entry& entry, int high, const char* hint, std::optional<Stated<int>>* out, Problems* problems) {
  const auto number = TakeInteger(entry, problems);
  if (!number) return;
  if (*number < 0 || *number > high) {
    return problems->Add(
        entry, WrongValue("number out of range", std::to_string(*number), "0 to " + std::to_string(high), hint));
  }
  constexpr int kHighestDscp = 63;
  if (high > kHighestDscp && *number > 0 && *number <= kHighestDscp) {
    const std::string dscp = std::to_string(*number);
    problems->Note(entry, dscp + " is DSCP " + std::to_string(*number / 4) + ". DSCP " + dscp + " would be " +
                              std::to_string(*number * 4) + ", or " + std::to_string(*number * 4 + 2) +
                              " by convention");
  }
  *out = {.value = static_cast<int>(*number), .origin = entry.origin()};
}

constexpr int kHighestClass = 255;
constexpr int kHighestLevel = 15;
constexpr const char* kClassHint = "It is DSCP x 4, so DSCP 26 is 104 or 106";

constexpr Key<SitePolicy> kTrafficClass[] = {
    {"tc", [](const Entry& e, SitePolicy* out, Problems* p) { ReadClass(e, kHighestClass, kClassHint, &out->tc, p); }},
    {"sl", [](const Entry& e, SitePolicy* out, Problems* p) { ReadClass(e, kHighestLevel, "", &out->sl, p); }},
    {"fifo_tc",
     [](const Entry& e, SitePolicy* out, Problems* p) { ReadClass(e, kHighestClass, kClassHint, &out->fifo_tc, p); }},
};

bool MatchesSomeName(std::string_view glob) {
  // Not every NCCL_ variable is in our table, so a pattern may well be about others of them.
  if (glob.starts_with("NCCL_") || policy::MatchesGlob(glob, "NCCL_")) return true;
  const auto names = KnownNames();
  return std::any_of(names.begin(), names.end(), [&](auto name) { return policy::MatchesGlob(glob, name); });
}

// A name without signs that is no variable, where its writer may have meant a beginning.
void NoteOneName(const Entry& entry, const std::string& name, Problems* problems) {
  if (name.find_first_of("*?") != std::string::npos || nccl::IsKnownName(name)) return;
  const auto names = KnownNames();
  const bool begins = std::any_of(names.begin(), names.end(), [&](auto known) { return known.starts_with(name); });
  const std::string hint = begins ? name + "* is all that begin so" : nccl::DidYouMean(name);
  problems->Note(entry, "no variable that we know has exactly this name" + (hint.empty() ? "" : "; " + hint));
}

std::vector<Stated<std::string>> ReadGlobs(const Entry& list, Problems* problems) {
  std::vector<Stated<std::string>> out;
  for (const Entry& entry : TakeList(list, problems)) {
    const std::string* text = TakeText(entry, problems);
    if (text == nullptr) continue;
    const auto checked = policy::CheckGlob(*text);
    if (!checked.ok()) {
      problems->Add(entry, checked.error());
    } else if (!MatchesSomeName(*text)) {
      problems->Add(entry,
                    WrongValue("matches no variable that can be set", *text,
                               "a name such as NCCL_IB_TC or a pattern such as NCCL_*", nccl::DidYouMean(*text)));
    } else {
      NoteOneName(entry, *text, problems);
      out.push_back({.value = *text, .origin = entry.origin()});
    }
  }
  return out;
}

constexpr Key<SitePolicy> kVariables[] = {
    {"allow", [](const Entry& e, SitePolicy* out, Problems* p) { out->allow = ReadGlobs(e, p); }},
    {"deny", [](const Entry& e, SitePolicy* out, Problems* p) { out->deny = ReadGlobs(e, p); }},
};

Entry At(const policy::Origin& origin) { return {.value = nullptr, .key = origin.key, .line = origin.line}; }

// A fixed value beside a key of its own that decides the same variable.
template <typename T>
void CheckTwice(const Variables& set, std::string_view name, const std::optional<T>& key, Problems* problems) {
  const auto found = set.find(name);
  if (found == set.end() || !key) return;
  problems->Add(At(found->second.origin),
                WrongValue("given twice", found->second.value,
                           "this or " + key->origin.key + " of line " + std::to_string(key->origin.line)));
}

void CheckAllowed(const Variables& variables, const SitePolicy& whole, Problems* problems) {
  for (const auto& [name, stated] : variables) {
    if (policy::MaySet(whole, name)) continue;
    problems->Add(At(stated.origin), WrongValue("set here and not let through by variables.allow and variables.deny",
                                                name, "one that they let through"));
  }
}

std::size_t SizeOf(const Variables& variables) {
  std::size_t out = 0;
  for (const auto& [name, stated] : variables) out += name.size() + stated.value.size();
  return out;
}

// What would not fit into a plan, and so would leave every step untuned.
void CheckSize(const Variables& variables, const Entry& entry, Problems* problems) {
  const std::size_t size = SizeOf(variables);
  if (size <= kMostTogether) return;
  problems->Add(entry, WrongValue("too much to set together", std::to_string(size) + " bytes",
                                  "at most " + std::to_string(kMostTogether) + " bytes of names and values",
                                  "Put what is longer into /etc/nccl.conf."));
}

// `set` with each profile over it.
void CheckSizes(const SitePolicy& whole, Problems* problems) {
  const auto check = [&](const Variables& own, Variables together) {
    for (const auto& [name, stated] : own) together[name] = stated;
    if (!own.empty()) CheckSize(together, At(own.begin()->second.origin), problems);
  };
  check(whole.set, {});
  for (const auto& [name, variables] : whole.profiles) check(variables, whole.set);
}

template <std::size_t n>
std::vector<std::string> NamesOf(const Key<SitePolicy> (&keys)[n]) {
  std::vector<std::string> out;
  for (const auto& key : keys) out.emplace_back(key.name);
  return out;
}

}  // namespace

void ReadMode(const Entry& entry, SitePolicy* out, Problems* problems) {
  constexpr SiteMode kModes[] = {SiteMode::kOff, SiteMode::kAuto, SiteMode::kExplain, SiteMode::kDryRun};
  ReadWord<SiteMode>(entry, kModes, &out->mode, problems);
}

void ReadGidIndex(const Entry& entry, SitePolicy* out, Problems* problems) {
  constexpr GidIndexRule kRules[] = {GidIndexRule::kPin, GidIndexRule::kAuto};
  ReadWord<GidIndexRule>(entry, kRules, &out->gid_index, problems);
}

void ReadTrafficClass(const Entry& entry, SitePolicy* out, Problems* problems) {
  ReadTable<SitePolicy>(entry, kTrafficClass, out, problems);
}

void ReadVariables(const Entry& entry, SitePolicy* out, Problems* problems) {
  ReadTable<SitePolicy>(entry, kVariables, out, problems);
}

void ReadSet(const Entry& entry, SitePolicy* out, Problems* problems) { ReadVariableTable(entry, &out->set, problems); }

void ReadProfiles(const Entry& entry, SitePolicy* out, Problems* problems) {
  if (!TakeTable(entry, problems)) return;
  constexpr std::string_view kLegal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  for (const Member& member : entry.value->members) {
    const Entry profile = entry.Under(member);
    const bool legal = !member.key.empty() && member.key.size() <= nccl::kLongestName &&
                       member.key.find_first_not_of(kLegal) == std::string::npos;
    if (!legal) {
      problems->Add(profile, WrongValue("not a name that profile=NAME can give", member.key,
                                        "at most 64 letters, digits, _ - and ."));
      continue;
    }
    ReadVariableTable(profile, &out->profiles[member.key], problems);
  }
}

void CheckTogether(const SitePolicy& block, const SitePolicy& whole, Problems* problems) {
  CheckTwice(block.set, "NCCL_IB_TC", block.tc, problems);
  CheckTwice(block.set, "NCCL_IB_SL", block.sl, problems);
  CheckTwice(block.set, "NCCL_IB_FIFO_TC", block.fifo_tc, problems);
  CheckTwice(block.set, "NCCL_SOCKET_IFNAME", block.bootstrap, problems);
  CheckTwice(block.set, "NCCL_IB_GID_INDEX", block.gid_index, problems);
  CheckAllowed(block.set, whole, problems);
  for (const auto& [name, variables] : block.profiles) CheckAllowed(variables, whole, problems);
}

void CheckSizes(const policy::SiteFile& file, Problems* problems) {
  SitePolicy whole = file.keys;  // as if all blocks held at once, which they may
  for (const auto& block : file.when) whole = policy::Merge(std::move(whole), block.keys);
  CheckSizes(whole, problems);
}

std::vector<std::string> TrafficClassKeys() { return NamesOf(kTrafficClass); }
std::vector<std::string> VariablesKeys() { return NamesOf(kVariables); }

}  // namespace nccl_tune::site
