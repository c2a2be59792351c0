// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "cli/activity.h"
#include "cli/advice.h"
#include "core/facts/node.h"
#include "core/policy/site_policy.h"
#include "hw/elf_number.h"
#include "hw/tree.h"
#include "report/wrap.h"
#include "site/installation.h"
#include "site/read_job.h"
#include "site/read_policy.h"

namespace nccl_tune::cli {
namespace {

constexpr std::size_t kLabel = 10;
constexpr std::size_t kLargestPlugin = 64 << 20;

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

// Its own release stands in each plugin of Slurm's; every installation has one of these.
std::optional<Release> ReleaseOfPlugins(const hw::Tree& tree, const std::vector<std::string>& folders) {
  for (const auto& folder : folders) {
    for (const char* name : {"/auth_munge.so", "/select_cons_tres.so", "/switch_none.so"}) {
      const auto bytes = tree.Read(hw::BelowRoot(folder + name), kLargestPlugin);
      if (!bytes.ok()) continue;
      const auto stamp = hw::ReadElfNumber(*bytes, "plugin_version");
      if (stamp.ok()) return FromStamp(*stamp);
    }
  }
  return std::nullopt;
}

// A message, ready for another sentence.
std::string Sentence(std::string text) {
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return text + ' ';
}

class Doctor {
 public:
  Doctor(const hw::Tree& tree, const DoctorInput& input)
      : tree_(tree), input_(input), found_(site::ReadInstallation(tree, Own("SLURM_CONF"))) {}

  Diagnosis Run() {
    const bool loads = LookAtSlurm() && LookAtPlugin();
    const std::string active = LookAtPolicy(loads);
    LookAtUser();
    if (loads) {
      verdict_ = (release_ ? "loaded" : "loaded if Slurm is of that release, which is not known") + ("; " + active);
      if (faults_ > 0)
        verdict_ += ". But " + std::to_string(faults_) + (faults_ == 1 ? " fault" : " faults") + " above";
    }
    Say("verdict", verdict_);
    return {.is_well = loads && faults_ == 0, .text = std::move(text_)};
  }

 private:
  std::string Own(std::string_view variable) const { return base::Lookup(input_.environment, variable).value_or(""); }

  void Say(std::string_view label, const std::string& what) { text_ += report::Wrap(label, kLabel, what); }

  void Fault(const std::string& what) {
    ++faults_;
    Say("fault", what);
  }

  bool Stop(std::string verdict) {
    verdict_ = std::move(verdict);
    return false;
  }

  // Where Slurm looks for a plugin that is named without a folder.
  std::vector<std::string> PluginFolders() const {
    if (!found_.plugin_dirs.empty()) return found_.plugin_dirs;
    return {"/usr/lib/x86_64-linux-gnu/slurm-wlm", "/usr/lib/aarch64-linux-gnu/slurm-wlm", "/usr/lib64/slurm",
            "/usr/lib/slurm", "/usr/local/lib/slurm"};
  }

  bool LookAtSlurm() {
    if (input_.release) release_ = ParseRelease(*input_.release);
    if (!release_) release_ = ReleaseOfPlugins(tree_, PluginFolders());
    const std::string version = release_ ? release_->ToString() : "of a release that is not known";
    if (found_.slurm_conf.empty()) {
      Say("Slurm", version + ", and no slurm.conf was found");
      return Stop("not loaded: no Slurm is set up here. If it is elsewhere, run: SLURM_CONF=FILE nccl-tune doctor");
    }
    const std::string path = "/" + found_.slurm_conf;
    Say("Slurm", version + ", " + path);
    if (!found_.unread) return true;
    return Stop("not known: " + path + " cannot be read: " + found_.unread->what +
                (Own("SLURM_CONF").empty() ? "" : ". SLURM_CONF names it: set it right, or unset it"));
  }

  bool LookAtPlugin() {
    const std::string stack = "/" + found_.stack;
    const auto& plugstack = found_.plugstack;
    for (const auto& note : plugstack.notes) {
      if (plugstack.is_read) Say("note", "/" + note.where + ": " + note.what);
    }
    if (!plugstack.is_read) {
      const std::string why = tree_.Exists(found_.stack) ? stack + " cannot be read" : "there is no " + stack;
      return Stop("not loaded: " + why + ". To do: " + HowToName(tree_, found_));
    }
    if (!found_.line) {
      return Stop("not loaded: no line of " + stack +
                  " names it, nor of a file that it includes. To do: " + HowToName(tree_, found_));
    }
    for (std::size_t i = 1; i < plugstack.lines.size(); ++i) LookAtSecond(plugstack.lines[i]);
    if (!plugstack.pyxis_after.empty()) NoteOrder(plugstack.pyxis_after, found_.line->file);
    return LookAtLine(*found_.line);
  }

  void LookAtSecond(const site::PluginLine& line) {
    const std::string away = ": take away " + site::WhereIs(line);
    if (line.path == found_.line->path)
      Say("note", "a second line names it, which does nothing" + away);
    else
      Fault("a second line names another file of it, " + line.path + ", and both act" + away);
  }

  // `pyxis`: where it is loaded after ours, which stands in `ours`.
  void NoteOrder(const std::string& pyxis, const std::string& ours) {
    const std::string usual = ours.substr(0, ours.rfind('/') + 1) + "zz-nccl_tune.conf";
    const bool renames = ours != found_.stack && ours != usual && !pyxis.starts_with(ours + ":");
    Say("note", "pyxis comes after it, in /" + pyxis + ": what a container image sets is then not seen. " +
                    (renames ? "To do: mv /" + ours + " /" + usual : "Load it after that line"));
  }

  bool LookAtLine(const site::PluginLine& line) {
    std::string words = line.is_required ? "required " : "optional ";
    words += line.path;
    for (const auto& argument : line.arguments) words += " " + argument;
    Say("from", site::WhereIs(line) + ": " + words);
    if (line.is_required)
      Say("note",
          "required: where the plugin is missing or of another release, no job starts and slurmd does not either. "
          "Write optional in " +
              site::WhereIs(line));
    for (const auto& [argument, error] : found_.refused)
      Fault("the plugin ignores " + argument + ": " + Sentence(error.ToString()) + "Correct it in " +
            site::WhereIs(line));
    for (const auto& file : {found_.stack, line.file}) {
      const std::string closed = tree_.FindClosed(file);
      if (!closed.empty()) Fault("users' srun cannot read /" + file + ": " + closed);
      if (!closed.empty()) break;
    }
    std::vector<std::string> paths = {line.path};
    if (!line.path.starts_with('/')) paths = PluginFolders();
    if (!line.path.starts_with('/')) {
      for (auto& path : paths) path += "/" + line.path;
    }
    const auto there =
        std::find_if(paths.begin(), paths.end(), [&](const auto& p) { return tree_.Exists(hw::BelowRoot(p)); });
    if (there == paths.end())
      return Stop("not loaded: there is no " + paths.front() + ". To do: " + HowToInstall(paths.front()));
    return LookAtFile(*there);
  }

  bool LookAtFile(const std::string& path) {
    const auto bytes = tree_.Read(hw::BelowRoot(path), kLargestPlugin);
    if (!bytes.ok()) return Stop("not loaded: " + path + ": " + bytes.error().what);
    const auto stamp = hw::ReadElfNumber(*bytes, "plugin_version");
    const std::string again = ". To do: " + HowToInstall(path);
    if (!stamp.ok()) return Stop("not loaded: " + path + " is no plugin of Slurm's: " + stamp.error().what + again);
    if (bytes->find("nccl-tune") == std::string::npos)
      return Stop("not loaded: " + path + " is another plugin of Slurm's" + again);
    const Release made_for = FromStamp(*stamp);
    Say("plugin", path + ", made for Slurm " + made_for.ToString());
    const std::string closed = tree_.FindClosed(hw::BelowRoot(path));
    if (!closed.empty()) Fault("users' srun cannot load " + path + ": " + closed);
    if (release_ && *release_ != made_for)
      return Stop("not loaded: Slurm " + release_->ToString() + " refuses a plugin made for " + made_for.ToString() +
                  ". To do: apt install ./nccl-tune-slurm-plugin.deb of version +slurm" + release_->ToString());
    return true;
  }

  // What the policy makes of a plugin that is loaded.
  std::string LookAtPolicy(bool loads) {
    const std::string path = "/" + found_.policy;
    const std::string named = found_.names_policy ? ", named in " + site::WhereIs(*found_.line) : "";
    std::vector<facts::Note> notes;
    const auto file = site::ReadPolicy(tree_, &notes, found_.policy);
    const auto broken = std::find_if(notes.begin(), notes.end(), [](const auto& note) { return note.warns; });
    const bool is_there = broken != notes.end() || tree_.Exists(found_.policy);
    Say("policy", path + named +
                      (!is_there               ? ": none, so detection decides"
                       : broken == notes.end() ? ": no fault"
                                               : ""));
    if (broken != notes.end())
      Fault(broken->where + ": " + Sentence(broken->what) + "To do: nccl-tune check-policy " + path);
    const std::string closed = is_there ? tree_.FindClosed(found_.policy) : "";
    if (!closed.empty() && broken == notes.end()) Fault("users' jobs do not take the policy: " + closed);
    NoteOtherReaders(is_there);
    std::vector<facts::Note> unused;  // the verdict names the blocks that are left out here
    const site::Place place{
        .node = input_.node, .partition = site::PartitionOf(input_.environment), .slurm_conf = Own("SLURM_CONF")};
    const auto activity = DescribeActivity(found_, file, site::ResolveAt(tree_, file, place, &unused));
    for (const auto& note : activity.notes) {
      if (loads) Say("note", note);
    }
    return activity.text;
  }

  void NoteOtherReaders(bool is_there) {
    if (!is_there && found_.arguments.default_by_policy)
      Say("note", "default=policy without a policy: jobs that say nothing get nothing");
    if (!found_.names_policy) return;
    if (!is_there)
      Say("note", "the line names a policy that is not here: where jobs run, detection decides unless it is there");
    const auto usual = tree_.Resolve(site::kPolicyPath);
    const auto named = tree_.Resolve(found_.policy);
    if (usual.ok() && named.ok() && *usual == *named) return;
    Say("note", "NCCL's env plugin reads /" + std::string(site::kPolicyPath) + " only. Where jobs load it: ln -s /" +
                    found_.policy + " /" + std::string(site::kPolicyPath));
  }

  void LookAtUser() {
    const auto wish = Own("NCCL_TUNE");
    if (!wish.empty()) Say("you", "NCCL_TUNE=" + base::Printable(wish) + " is your own default");
  }

  const hw::Tree& tree_;
  const DoctorInput& input_;
  site::Installation found_;
  std::optional<Release> release_;
  int faults_ = 0;
  std::string verdict_;
  std::string text_;
};

}  // namespace

Diagnosis Diagnose(const hw::Tree& tree, const DoctorInput& input) { return Doctor(tree, input).Run(); }

}  // namespace nccl_tune::cli
