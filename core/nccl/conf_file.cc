// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/conf_file.h"

#include <cstddef>
#include <set>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::nccl {
namespace {

constexpr std::size_t kLongest = 1023;  // of a name and of a value
constexpr std::string_view kSitePath = "/etc/nccl.conf";
constexpr std::string_view kHomeName = ".nccl.conf";

bool HasBlank(std::string_view text) { return text.find_first_of(" \t\r") != std::string_view::npos; }
bool IsTrimmed(std::string_view text) { return base::Trim(text) == text; }

bool IsQuoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
}

std::string Quoted(std::string_view text) { return '"' + base::Printable(text) + '"'; }

// What a reader of the line would not expect of it; empty: nothing.
std::string RemarkOnName(std::string_view name) {
  if (name.empty()) return "no name before \"=\": it sets nothing";
  if (name.starts_with("export ")) return "\"export\" becomes part of the name: leave it out";
  if (name.front() == '#') return "";
  if (base::Trim(name).starts_with('#')) return "only a \"#\" at the very start makes a comment: it sets an odd name";
  if (HasBlank(name)) return "the name " + Quoted(name) + " has blanks, which are not trimmed: it sets nothing useful";
  if (name.size() > kLongest) return "the name is cut after 1023 bytes";
  return "";
}

std::string RemarkOnValue(std::string_view name, std::string_view value) {
  if (value.size() > kLongest) return "the value of " + Quoted(name) + " is cut after 1023 bytes";
  if (value.ends_with('\r'))
    return "the value ends in a carriage return, which is not trimmed: save with Unix line ends";
  if (!IsTrimmed(value)) return "the value " + Quoted(value) + " has blanks at its ends, which are not trimmed";
  if (IsQuoted(value)) return "the quotes belong to the value " + Quoted(value) + ": leave them out";
  if (value.find(" #") != std::string_view::npos) return "what follows \"#\" belongs to the value " + Quoted(value);
  if (value.empty()) return Quoted(name) + " is set to nothing, which is not the same as unset";
  return "";
}

// One line without its end.
void ParseLine(std::string_view line, int number, bool skip_comments, std::set<std::string>* seen, ConfFile* out) {
  const auto remark = [&](std::string what) {
    if (!what.empty()) out->remarks.push_back({.line = number, .what = std::move(what)});
  };
  const bool is_comment = line.starts_with('#');
  if (is_comment && skip_comments) return;
  const auto zero = line.find('\0');
  if (zero != std::string_view::npos) {
    remark("a zero byte ends the line early: this is no text file");
    line = line.substr(0, zero);
  }
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) {
    if (!is_comment && !base::Trim(line).empty()) remark("no \"=\": the line is skipped");
    return;
  }
  const std::string_view name = line.substr(0, equals);
  const std::string_view value = line.substr(equals + 1);
  if (std::string on_name = RemarkOnName(name); !on_name.empty()) {
    remark(std::move(on_name));
  } else if (!is_comment) {
    remark(RemarkOnValue(name, value));
  }
  if (name.empty()) return;
  ConfSetting setting{
      .name = std::string(name.substr(0, kLongest)), .value = std::string(value.substr(0, kLongest)), .line = number};
  if (!seen->insert(setting.name).second) remark(Quoted(setting.name) + " stands above already, and the first counts");
  out->settings.push_back(std::move(setting));
}

}  // namespace

ConfPlaces FindConfPlaces(const Environment& environment, const NcclVersion& version) {
  ConfPlaces out;
  const bool knows_name = version >= NcclVersion{2, 23, 0};
  const std::string named(GetVariable(environment, "NCCL_CONF_FILE").value_or(""));
  const std::string home(GetVariable(environment, "HOME").value_or(""));
  if (!named.empty() && !knows_name) {
    out.remarks.push_back("NCCL_CONF_FILE is not known before NCCL 2.23: " + Quoted(named) + " is not read");
  }
  if (!named.empty() && knows_name) {
    if (named.front() == '/') {
      out.named = named;
      out.paths.push_back(named);
    } else if (named.front() == '~') {
      out.remarks.push_back("NCCL_CONF_FILE " + Quoted(named) + ": \"~\" is not expanded, so nothing is read");
    } else {
      out.remarks.push_back("NCCL_CONF_FILE " + Quoted(named) + " depends on the working directory: not looked at");
    }
  } else if (home.starts_with('/')) {
    out.paths.push_back(home + (home.ends_with('/') ? "" : "/") + std::string(kHomeName));
  } else if (!home.empty()) {
    out.remarks.push_back("HOME " + Quoted(home) + " is no absolute path: its .nccl.conf is not looked at");
  }
  if (out.named != kSitePath) out.paths.emplace_back(kSitePath);
  return out;
}

ConfFile ParseConfFile(std::string path, std::string_view text, const NcclVersion& version) {
  ConfFile out;
  out.path = std::move(path);
  const bool skip_comments = version >= NcclVersion{2, 26, 0};
  std::set<std::string> seen;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    ParseLine(text.substr(0, end), number, skip_comments, &seen, &out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::vector<ConfFile> ParseConfFiles(const ConfPlaces& places, const ConfTexts& texts, const NcclVersion& version) {
  std::vector<ConfFile> out;
  for (const auto& path : places.paths) {
    const auto text = texts.find(path);
    if (text != texts.end()) {
      out.push_back(ParseConfFile(path, text->second, version));
    } else if (path == places.named) {
      ConfFile absent;
      absent.path = path;
      absent.remarks.push_back({.line = 0, .what = "NCCL_CONF_FILE names it, but it cannot be read"});
      out.push_back(std::move(absent));
    }
  }
  return out;
}

std::string SourcedValue::Origin() const {
  return FromEnvironment() ? "environment" : path + ":" + std::to_string(line);
}

SourcedEnvironment MergeSettings(const Environment& environment, const std::vector<ConfFile>& files) {
  SourcedEnvironment out;
  for (const auto& [name, value] : environment)
    out.try_emplace(name, SourcedValue{.value = value, .path = "", .line = 0});
  for (const auto& file : files) {
    for (const auto& s : file.settings) {
      out.try_emplace(s.name, SourcedValue{.value = s.value, .path = file.path, .line = s.line});
    }
  }
  return out;
}

Environment ValuesOf(const SourcedEnvironment& settings) {
  Environment out;
  for (const auto& [name, setting] : settings) out.emplace(name, setting.value);
  return out;
}

}  // namespace nccl_tune::nccl
