// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "report/wrap.h"

namespace nccl_tune::report {
namespace {

using base::Json;
using env::Action;
using env::Setting;

// Not from a file.
bool IsUsers(const Setting& setting) { return setting.origin == "environment"; }

constexpr std::size_t kLabel = 10;  // column of the text under a variable
constexpr std::size_t kValue = 20;  // column of its value

std::string ShownValue(const Setting& setting) {
  switch (setting.action) {
    case Action::kSet:
      return *setting.decision.value + (setting.origin.empty() ? "" : "   (" + setting.origin + ")");
    case Action::kKeep:
      return base::Shortened(setting.user_value) + "   (" + (IsUsers(setting) ? "yours" : setting.origin) + ", kept)";
    case Action::kYielded:
      return "(left unset)";
    case Action::kUnset:
      return "(unset)";
  }
  return "";
}

std::string ActionName(Action action) {
  switch (action) {
    case Action::kSet:
      return "set";
    case Action::kKeep:
      return "kept";
    case Action::kYielded:
      return "yielded";
    case Action::kUnset:
      return "unset";
  }
  return "";
}

std::string WhyText(const Setting& setting) {
  if (setting.action == Action::kYielded) return setting.yielded_to;
  if (setting.action != Action::kKeep) return setting.decision.reason;
  const std::string wins = IsUsers(setting) ? "your value wins" : "the value in NCCL's own file wins";
  if (!setting.decision.value) return wins + "; we would leave it unset: " + setting.decision.reason;
  if (*setting.decision.value == setting.user_value) return wins + ", and it is ours too: " + setting.decision.reason;
  return wins + "; ours would be " + *setting.decision.value + ": " + setting.decision.reason;
}

// The releases for which a value of ours holds; empty: it is no variable of NCCL's.
std::string VersionsText(const Setting& setting) {
  if (setting.since.major == 0) return "";
  return "NCCL " + std::to_string(setting.since.major) + "." + std::to_string(setting.since.minor) + " to 2.32";
}

std::string WrongText(const std::vector<env::Contradiction>& all, std::string_view variable, std::size_t width) {
  std::string out;
  for (const auto& c : all) {
    if (c.variable != variable) continue;
    out += Wrap("    wrong", kLabel, c.what, width);
    if (!c.hint.empty()) out += Wrap("    hint", kLabel, c.hint, width);
  }
  return out;
}

bool IsDecided(const env::Plan& plan, std::string_view variable) {
  return std::any_of(plan.settings.begin(), plan.settings.end(),
                     [&](const Setting& s) { return s.decision.variable == variable; });
}

// Wrong values of variables that no rule decides on: an integer with letters, say.
std::string OtherWrongText(const Explanation& all, std::size_t width) {
  std::string out;
  std::string last;
  for (const auto& c : all.contradictions) {
    if (IsDecided(all.plan, c.variable) || c.variable == last) continue;
    last = c.variable;
    out += Wrap(c.variable, kValue, base::Shortened(c.value) + "   (set already)", width) +
           WrongText(all.contradictions, c.variable, width);
  }
  return out;
}

std::string WithoutUsText(const Explanation& all) {
  const auto& w = all.without_us;
  std::string out = "without nccl-tune\n";
  out += Wrap("    NCCL", kLabel,
              w.version.ToString() + (all.library.empty() ? ", assumed: none was found" : ", " + all.library));
  if (w.ports.empty()) out += Wrap("    ports", kLabel, "none: " + w.no_ports);
  for (const auto& port : w.ports) out += Wrap("    port", kLabel, port);
  return out + Wrap("    meets", kLabel,
                    w.interface.empty() ? (w.interface_unknown ? "not known: " : "nowhere: ") + w.interface_reason
                                        : w.interface);
}

// Names that share their reason on one line: twelve dead ports are one thing to read.
std::string GroupedText(std::string_view label, const std::vector<policy::Rejection>& all, std::size_t width) {
  std::vector<std::pair<std::string, std::string>> grouped;  // why, names
  for (const auto& r : all) {
    const auto found = std::find_if(grouped.begin(), grouped.end(), [&](const auto& g) { return g.first == r.why; });
    if (found == grouped.end())
      grouped.emplace_back(r.why, r.what);
    else
      found->second += ", " + r.what;
  }
  std::string out;
  for (const auto& [why, names] : grouped) out += Wrap(label, kLabel, names + ": " + why, width);
  return out;
}

std::string RejectedText(const std::vector<policy::Rejection>& rejected, std::size_t width = kWidth) {
  return GroupedText("    not", rejected, width);
}

// Left unset with nothing to choose from: worth a word, not a paragraph.
bool IsPlainUnset(const Setting& setting) {
  return setting.action == Action::kUnset && setting.decision.rejected.empty();
}

std::string UnsetText(const env::Plan& plan) {
  std::vector<policy::Rejection> all;
  for (const auto& setting : plan.settings) {
    if (IsPlainUnset(setting) && !setting.decision.is_usual)
      all.push_back({.what = setting.decision.variable, .why = setting.decision.reason});
  }
  return (all.empty() ? "" : "left unset\n") + GroupedText("", all, kWidth);
}

Json RejectedJson(const std::vector<policy::Rejection>& rejected) {
  Json out = Json::array();
  for (const auto& r : rejected) out.push_back({{"what", r.what}, {"why", r.why}});
  return out;
}

Json WrongJson(const std::vector<env::Contradiction>& all) {
  Json out = Json::array();
  for (const auto& c : all) {
    out.push_back({{"variable", c.variable}, {"value", c.value}, {"what", c.what}, {"do", c.hint}});
  }
  return out;
}

Json WithoutUsJson(const Explanation& all) {
  const auto& w = all.without_us;
  Json out;
  out["nccl"] = w.version.ToString();
  out["library"] = all.library.empty() ? Json() : Json(all.library);
  out["ports"] = w.ports;
  if (w.ports.empty()) out["no_ports"] = w.no_ports;
  out["interface"] = w.interface.empty() ? Json() : Json(w.interface);
  out["interface_reason"] = w.interface_reason;
  return out;
}

// Who gave the variable the value that a task sees.
std::string SetBy(const Setting& setting) {
  if (setting.action == Action::kSet) return setting.origin.empty() ? "nccl-tune" : setting.origin;
  return setting.action == Action::kKeep ? setting.origin : "";
}

Json SettingJson(const Setting& setting) {
  Json out;
  out["variable"] = setting.decision.variable;
  out["action"] = ActionName(setting.action);
  const bool has = setting.action == Action::kSet || setting.action == Action::kKeep;
  out["value"] = !has ? Json() : Json(setting.action == Action::kKeep ? setting.user_value : *setting.decision.value);
  out["ours"] = setting.decision.value ? Json(*setting.decision.value) : Json();
  if (setting.action == Action::kYielded) out["yielded_to"] = setting.yielded_to;
  out["set_by"] = SetBy(setting).empty() ? Json() : Json(SetBy(setting));
  out["versions"] = VersionsText(setting).empty() ? Json() : Json(VersionsText(setting));
  out["reason"] = setting.decision.reason;
  out["evidence"] = Json::array();
  for (const auto& e : setting.decision.evidence) out["evidence"].push_back({{"where", e.where}, {"value", e.value}});
  out["rejected"] = RejectedJson(setting.decision.rejected);
  return out;
}

// Plain words need no quotes in a shell; "=mlx5_2:1" does not either, but zsh expands a leading "=".
std::string ShellQuote(const std::string& value) {
  const bool plain =
      !value.empty() && value.front() != '=' && value.front() != '~' &&
      value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,:/=+@%") ==
          std::string::npos;
  if (plain) return value;
  std::string out = "'";
  for (const char c : value) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What cannot be unset by who starts the job has to leave its file.
void FitHint(const env::Plan& plan, env::Contradiction* c) {
  const std::string unset = "Unset " + c->variable;
  const std::string file = FileOf(plan, c->variable);
  if (!file.empty() && c->hint.starts_with(unset)) c->hint.replace(0, unset.size(), "Take it out of " + file);
}

}  // namespace

std::string FileOf(const env::Plan& plan, std::string_view variable) {
  for (const auto& setting : plan.settings) {
    const bool is_file = setting.action == Action::kKeep && !IsUsers(setting);
    if (is_file && setting.decision.variable == variable) return setting.origin;
  }
  return "";
}

Explanation Explain(const facts::Node& node, env::Plan plan, const nccl::NcclVersion& version) {
  Explanation out;
  out.transports = policy::RecognizeTransports(node);
  auto theirs = plan.user;
  for (const auto& setting : plan.settings) {  // what the site fixes is looked at like what a user does
    if (setting.action == Action::kSet && !setting.origin.empty())
      theirs[setting.decision.variable] = *setting.decision.value;
  }
  out.contradictions = env::FindContradictions(node, theirs, env::FinalValues(plan), version);
  for (auto& c : out.contradictions) FitHint(plan, &c);
  out.without_us = env::PredictWithoutUs(node, plan.user, version);
  for (const auto& note : node.notes) {
    // What changes everything below does not stand among what could not be read.
    if (note.warns)
      out.warnings.push_back(note.where + ": " + note.what);
    else
      out.notes.push_back(note);
  }
  out.plan = std::move(plan);
  return out;
}

std::string ExplainText(const Explanation& all) {
  std::string out;
  if (!all.plan.node.empty()) out += base::Printable(all.plan.node) + "\n";
  for (const auto& warning : all.warnings) out += Wrap("note", kLabel, warning);
  for (const auto& t : all.transports) {
    out += Wrap("network", kLabel, t.name + ": " + t.what) +
           Wrap("    from", kLabel, t.evidence.where + " = " + t.evidence.value);
  }
  for (const auto& setting : all.plan.settings) {
    if (IsPlainUnset(setting)) continue;
    out += Wrap(setting.decision.variable, kValue, ShownValue(setting));
    out += WrongText(all.contradictions, setting.decision.variable, kWidth);
    out += Wrap("    why", kLabel, WhyText(setting));
    for (const auto& e : setting.decision.evidence) out += Wrap("    from", kLabel, e.where + " = " + e.value);
    out += RejectedText(setting.decision.rejected);
    if (setting.action == Action::kSet && !VersionsText(setting).empty())
      out += Wrap("    for", kLabel, VersionsText(setting));
  }
  out += OtherWrongText(all, kWidth);
  out += UnsetText(all.plan);
  out += WithoutUsText(all);
  if (!all.notes.empty()) out += "not read\n";
  for (const auto& note : all.notes) out += Wrap("", 4, note.where + ": " + note.what);
  return out;
}

std::string ExplainJson(const Explanation& all) {
  Json out;
  out["version"] = 1;
  if (!all.plan.node.empty()) out["node"] = all.plan.node;
  out["warnings"] = all.warnings;
  out["networks"] = Json::array();
  for (const auto& t : all.transports) {
    out["networks"].push_back(
        {{"name", t.name}, {"what", t.what}, {"where", t.evidence.where}, {"value", t.evidence.value}});
  }
  out["settings"] = Json::array();
  for (const auto& setting : all.plan.settings) out["settings"].push_back(SettingJson(setting));
  out["wrong"] = WrongJson(all.contradictions);
  out["without_us"] = WithoutUsJson(all);
  out["notes"] = Json::array();
  for (const auto& note : all.notes) out["notes"].push_back({{"where", note.where}, {"what", note.what}});
  return base::DumpJson(out, 2) + "\n";
}

std::string SummaryText(const Explanation& all, std::string_view prefix) {
  constexpr std::size_t kReason = 4;
  const std::size_t width = prefix.size() + 40 < kWidth ? kWidth - prefix.size() : 40;
  std::string text;
  for (const auto& warning : all.warnings) text += Wrap("note", kLabel, warning, width);
  for (const auto& setting : all.plan.settings) {
    // What stays unset is worth a line only where something was there to choose from: a dead port, say.
    if (IsPlainUnset(setting)) continue;
    text += Wrap(setting.decision.variable, kValue, ShownValue(setting), width);
    text += WrongText(all.contradictions, setting.decision.variable, width);
    // The sister variables follow those of NCCL; their values say it.
    const bool sister =
        setting.action == Action::kSet && setting.origin.empty() && !setting.decision.variable.starts_with("NCCL_");
    if (!sister) text += Wrap("", kReason, WhyText(setting), width);
    if (setting.action == Action::kUnset) text += RejectedText(setting.decision.rejected, width);
  }
  text += OtherWrongText(all, width);
  if (text.empty()) text = "nothing to set: NCCL's own defaults are right here, or nothing is certain\n";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at) + 1;
    out += std::string(prefix) + text.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string EnvShell(const env::Environment& values) {
  std::string out;
  for (const auto& [name, value] : values) out += name + "=" + ShellQuote(value) + "\n";
  return out;
}

std::string EnvConf(const env::Environment& values) {
  std::string out;
  for (const auto& [name, value] : values) out += name + "=" + value + "\n";
  return out;
}

std::string EnvJson(const env::Environment& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) out[name] = value;
  return base::DumpJson(out, 2) + "\n";
}

}  // namespace nccl_tune::report
