// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "hw/elf_number.h"
#include "hw/tree.h"
#include "report/wrap.h"
#include "site/plugstack.h"
#include "site/read_job.h"
#include "site/read_policy.h"
#include "site/slurm_conf.h"

namespace nccl_tune::cli {
namespace {

using Settings = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kLabel = 10;
constexpr std::string_view kPlugin = "spank_nccl_tune.so";

struct Release {
  unsigned major = 0;
  unsigned minor = 0;

  bool operator==(const Release&) const = default;
  std::string ToString() const { return std::to_string(major) + (minor < 10 ? ".0" : ".") + std::to_string(minor); }
};

// "slurm-wlm 22.05.8", "slurm 24.11.5-1".
std::optional<Release> ParseRelease(std::string_view text) {
  const auto begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of("0123456789", dot + 1), text.size());
  const auto major = base::ParseInteger<unsigned>(text.substr(0, dot));
  const auto minor = base::ParseInteger<unsigned>(text.substr(dot + 1, end - dot - 1));
  if (!major.ok() || !minor.ok()) return std::nullopt;
  return Release{.major = *major, .minor = *minor};
}

// Slurm's number of a release: 0x160508 is 22.05.8.
Release FromStamp(std::uint32_t stamp) { return {.major = stamp >> 16, .minor = (stamp >> 8) & 0xff}; }

class Doctor {
 public:
  Doctor(const hw::Tree& tree, const DoctorInput& input) : tree_(tree), input_(input) {}

  Diagnosis Run() {
    const bool loads = LookAtSlurm() && LookAtPlugin();
    const bool off = LookAtPolicy();
    LookAtUser();
    Say("verdict", loads ? (off ? "loaded, and the site's policy turns it off" : Loaded()) : verdict_);
    return {.is_well = loads, .text = std::move(text_)};
  }

 private:
  void Say(std::string_view label, const std::string& what) { text_ += report::Wrap(label, kLabel, what); }

  bool Stop(std::string verdict) {
    verdict_ = std::move(verdict);
    return false;
  }

  bool LookAtSlurm() {
    if (input_.release) release_ = ParseRelease(*input_.release);
    const std::string version = release_ ? release_->ToString() : "of a release that is not known";
    conf_ = site::FindSlurmConf(tree_, base::Lookup(input_.environment, "SLURM_CONF").value_or(""));
    if (conf_.empty()) {
      Say("Slurm", version + ", and no slurm.conf was found (SLURM_CONF names another place)");
      return Stop("not loaded: no Slurm is set up here");
    }
    Say("Slurm", version + ", /" + conf_);
    auto settings = site::ReadSlurmSettings(tree_, conf_);
    if (!settings.ok()) return Stop("not known: slurm.conf cannot be read: " + settings.error().ToString());
    settings_ = *std::move(settings);
    return true;
  }

  bool LookAtPlugin() {
    const auto named = settings_.find("plugstackconfig");
    const std::string beside = conf_.substr(0, conf_.rfind('/') + 1) + "plugstack.conf";
    const std::string stack(hw::BelowRoot(named == settings_.end() ? beside : named->second));
    const auto found = site::ReadPlugstack(tree_, stack);
    for (const auto& note : found.notes) {
      if (found.is_read) Say("note", "/" + note.where + ": " + note.what);
    }
    if (!found.is_read)
      return Stop("not loaded: there is no /" + stack + ". Write: optional PATH/" + std::string(kPlugin));
    if (found.lines.empty()) {
      return Stop("not loaded: no line of /" + stack +
                  " names it, nor of a file that it includes. Write: optional PATH/" + std::string(kPlugin));
    }
    for (std::size_t i = 1; i < found.lines.size(); ++i)
      Say("note", "a second line names it, which Slurm disables: " + Where(found.lines[i]));
    return LookAtLine(found.lines.front());
  }

  static std::string Where(const site::PluginLine& line) { return "/" + line.file + ":" + std::to_string(line.line); }

  // Where Slurm looks for a plugin that is named without a folder.
  std::vector<std::string> Candidates(const std::string& path) const {
    if (path.starts_with('/')) return {path};
    const auto named = settings_.find("plugindir");
    std::vector<std::string> folders = {"/usr/lib/x86_64-linux-gnu/slurm-wlm", "/usr/lib/aarch64-linux-gnu/slurm-wlm",
                                        "/usr/lib64/slurm", "/usr/lib/slurm", "/usr/local/lib/slurm"};
    if (named != settings_.end()) folders = {named->second};
    for (auto& folder : folders) folder += "/" + path;
    return folders;
  }

  bool LookAtLine(const site::PluginLine& line) {
    std::string arguments;
    for (const auto& argument : line.arguments) arguments += " " + argument;
    by_policy_ = arguments.find("default=policy") != std::string::npos;
    const auto by_default = arguments.find("default=");
    default_ = by_default == std::string::npos ? "off" : arguments.substr(by_default + 8);
    default_ = default_.substr(0, default_.find(' '));
    Say("from", Where(line) + ": " + (line.is_required ? "required" : "optional") + " " + line.path + arguments);
    if (line.is_required)
      Say("note",
          "required: where the plugin is missing or of another release, no job starts and slurmd does not either. "
          "Write optional");
    const auto paths = Candidates(line.path);
    const auto there =
        std::find_if(paths.begin(), paths.end(), [&](const auto& p) { return tree_.Exists(hw::BelowRoot(p)); });
    if (there == paths.end()) return Stop("not loaded: there is no " + paths.front());
    return LookAtFile(*there);
  }

  bool LookAtFile(const std::string& path) {
    constexpr std::size_t kLargest = 64 << 20;
    const auto bytes = tree_.Read(hw::BelowRoot(path), kLargest);
    if (!bytes.ok()) return Stop("not loaded: " + path + ": " + bytes.error().what);
    const auto stamp = hw::ReadElfNumber(*bytes, "plugin_version");
    if (!stamp.ok()) return Stop("not loaded: " + path + " is no plugin of Slurm's: " + stamp.error().what);
    const Release made_for = FromStamp(*stamp);
    Say("plugin", path + ", made for Slurm " + made_for.ToString());
    if (release_ && *release_ != made_for)
      return Stop("not loaded: Slurm " + release_->ToString() + " refuses a plugin made for " + made_for.ToString() +
                  ". Install the one for " + release_->ToString());
    return true;
  }

  // Whether it turns the tool off here.
  bool LookAtPolicy() {
    std::vector<facts::Note> notes;
    const bool is_there = tree_.Exists(site::kPolicyPath);
    const auto file = site::ReadPolicy(tree_, &notes);
    const site::Place place{.node = input_.node,
                            .partition = site::PartitionOf(input_.environment),
                            .slurm_conf = base::Lookup(input_.environment, "SLURM_CONF").value_or("")};
    const auto policy = site::ResolveAt(tree_, file, place, &notes);
    const std::string path = "/" + std::string(site::kPolicyPath);
    const bool broken = std::any_of(notes.begin(), notes.end(), [](const auto& note) { return note.warns; });
    Say("policy", !is_there ? path + ": none, so detection decides" : broken ? path : path + ": no fault");
    for (const auto& note : notes) {
      if (note.warns) Say("note", note.where + ": " + note.what);
    }
    if (policy.mode) policy_mode_ = policy::ToText(policy.mode->value);
    return policy.IsOff();
  }

  void LookAtUser() {
    const auto wish = base::Lookup(input_.environment, "NCCL_TUNE");
    if (wish && !wish->empty()) Say("you", "NCCL_TUNE=" + base::Printable(*wish) + " is your own default");
  }

  std::string Loaded() const {
    const std::string by_default = by_policy_ ? (policy_mode_.empty() ? "off" : policy_mode_) : default_;
    if (by_default == "off") return "loaded; active in jobs that ask: srun --nccl-tune";
    return "loaded; active in every job (" + by_default + ") that does not say --nccl-tune=off";
  }

  const hw::Tree& tree_;
  const DoctorInput& input_;
  std::optional<Release> release_;
  std::string conf_;
  Settings settings_;
  bool by_policy_ = false;
  std::string default_ = "off";
  std::string policy_mode_;
  std::string verdict_;
  std::string text_;
};

}  // namespace

Diagnosis Diagnose(const hw::Tree& tree, const DoctorInput& input) { return Doctor(tree, input).Run(); }

}  // namespace nccl_tune::cli
