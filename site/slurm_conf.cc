// SPDX-License-Identifier: Apache-2.0
#include "site/slurm_conf.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/result.h"
#include "core/policy/host_list.h"

namespace nccl_tune::site {
namespace {

constexpr std::size_t kLargest = 4 << 20;  // bytes; a site of 10,000 nodes written out stays below 1 MiB
constexpr int kMostFiles = 32;             // Slurm itself has no limit: a file that includes itself must end

using Keys = std::map<std::string, std::string, std::less<>>;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The text's lines without comments, those that go on joined.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> out;
  std::string line;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::size_t at = part.find('#'); at != std::string_view::npos; at = part.find('#', at + 1)) {
      if (at > 0 && part[at - 1] == '\\') continue;  // "\#" is a sign like others
      part = part.substr(0, at);
      break;
    }
    while (!part.empty() && IsBlank(part.back())) part.remove_suffix(1);
    const bool goes_on = part.ends_with('\\');
    if (goes_on) part.remove_suffix(1);
    line += part;
    if (goes_on && !text.empty()) continue;
    if (!line.empty()) out.push_back(std::move(line));
    line.clear();
  }
  return out;
}

// KEY=VALUE with blanks between; a value may stand in quotes. Keys are lower case.
Keys KeysOf(std::string_view line) {
  Keys out;
  while (true) {
    while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return out;
    std::string_view key = line.substr(0, equals);
    while (!key.empty() && IsBlank(key.back())) key.remove_suffix(1);
    line.remove_prefix(equals + 1);
    while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const auto end = std::min(quoted ? line.find('"') : line.find_first_of(" \t\r"), line.size());
    out[base::LowerAscii(key)] = line.substr(0, end);
    line.remove_prefix(std::min(end + (quoted ? 1 : 0), line.size()));
  }
}

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (end > 0) out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool Names(std::string_view hosts, std::string_view node) {
  const auto list = policy::ParseHostList(hosts);
  return list.ok() && list->Contains(node);
}

// Feature= of a NodeName line, or nothing.
std::optional<std::string> FeatureOf(const Keys& keys) {
  for (const char* key : {"features", "feature"}) {
    if (const auto found = keys.find(key); found != keys.end()) return found->second;
  }
  return std::nullopt;
}

// The lines of a file, those of included files at their place.
class Reader {
 public:
  explicit Reader(const hw::Tree& tree) : tree_(tree) {}

  base::Result<std::vector<std::string>> Read(const std::string& path) {
    NCCL_TUNE_RETURN_IF_ERROR(Take(path));
    return std::move(lines_);
  }

 private:
  base::Status Take(const std::string& path) {
    if (++files_ > kMostFiles) {
      return base::Error{.code = base::Code::kInvalidInput, .what = "more than 32 files", .where = path};
    }
    NCCL_TUNE_ASSIGN_OR_RETURN(text, tree_.Read(path, kLargest));
    for (std::string& line : LinesOf(text)) {
      constexpr std::string_view kInclude = "include";
      const bool includes = line.size() > kInclude.size() && IsBlank(line[kInclude.size()]) &&
                            base::EqualsIgnoringCase(std::string_view(line).substr(0, kInclude.size()), kInclude);
      if (!includes) {
        lines_.push_back(std::move(line));
        continue;
      }
      line.erase(0, line.find_first_not_of(" \t", kInclude.size()));
      const std::string folder = path.substr(0, path.rfind('/') + 1);
      NCCL_TUNE_RETURN_IF_ERROR(Take(line.starts_with('/') ? line.substr(1) : folder + line));
    }
    return base::Ok();
  }

  const hw::Tree& tree_;
  int files_ = 0;
  std::vector<std::string> lines_;
};

// The features of `node` by the NodeName lines among `lines`; nothing: none is about it.
std::optional<std::vector<std::string>> FeaturesOf(const std::vector<std::string>& lines, std::string_view node) {
  std::string by_default;
  std::optional<std::vector<std::string>> out;
  for (const std::string& line : lines) {
    if (!base::LowerAscii(std::string_view(line).substr(0, 8)).starts_with("nodename")) continue;
    const Keys keys = KeysOf(line);
    const auto name = keys.find("nodename");
    if (name == keys.end()) continue;
    const auto feature = FeatureOf(keys);
    if (base::EqualsIgnoringCase(name->second, "default")) {
      by_default = feature.value_or(by_default);
      continue;
    }
    const auto host = keys.find("nodehostname");
    if (Names(host == keys.end() ? name->second : host->second, node)) out = Split(feature.value_or(by_default));
  }
  return out;
}

}  // namespace

std::vector<std::string> SlurmConfPlaces() {
  return {"etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "var/spool/slurmd/conf-cache/slurm.conf",
          "var/spool/slurm/d/conf-cache/slurm.conf", "usr/local/etc/slurm.conf"};
}

std::string FindSlurmConf(const hw::Tree& tree, std::string_view path) {
  std::string out(path);
  if (out.empty()) {
    const auto places = SlurmConfPlaces();
    const auto there =
        std::find_if(places.begin(), places.end(), [&](const auto& place) { return tree.Exists(place); });
    if (there != places.end()) out = *there;
  }
  return std::string(hw::BelowRoot(out));
}

base::Result<std::map<std::string, std::string, std::less<>>> ReadSlurmSettings(const hw::Tree& tree,
                                                                                const std::string& path) {
  NCCL_TUNE_ASSIGN_OR_RETURN(lines, Reader(tree).Read(path));
  Keys out;
  for (const std::string& line : lines) {
    Keys keys = KeysOf(line);
    if (keys.size() == 1) out.insert(keys.extract(keys.begin()));
  }
  return out;
}

std::optional<std::vector<std::string>> ReadNodeFeatures(const hw::Tree& tree, std::string_view path,
                                                         std::string_view node, std::vector<facts::Note>* notes) {
  const auto tell = [&](std::string where, const std::string& what) {
    notes->push_back({.where = std::move(where), .what = what + "; blocks of the policy with feature do not hold"});
    return std::nullopt;
  };
  const std::string found = FindSlurmConf(tree, path);
  if (found.empty()) return tell("slurm.conf", "not found, so the node's features are not known");
  if (node.empty()) return tell(found, "the node has no name, so its features are not known");
  const auto lines = Reader(tree).Read(found);
  if (!lines.ok()) return tell(found, "not read, so the node's features are not known: " + lines.error().ToString());
  auto features = FeaturesOf(*lines, node);
  if (!features) return tell(found, "says nothing about " + base::Printable(std::string(node)));
  return features;
}

}  // namespace nccl_tune::site
