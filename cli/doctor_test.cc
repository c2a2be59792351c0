// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hw/capture_tree.h"
#include "hw/elf_number.h"

namespace nccl_tune::cli {
namespace {

using Files = std::map<std::string, std::string>;

// Read once: a sanitizer makes it large.
const std::string& Plugin() {
  static const std::string bytes = [] {
    std::ifstream in("spank/spank_nccl_tune.so", std::ios::binary | std::ios::ate);
    std::string out(static_cast<std::size_t>(in.tellg()), '\0');
    in.seekg(0);
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    return out;
  }();
  return bytes;
}

// The same for another plugin: our name nowhere in it.
std::string Another() {
  std::string out = Plugin();
  for (std::size_t at; (at = out.find("nccl-tune")) != std::string::npos;) out[at] = 'x';
  return out;
}

// The release that this plugin was built for, as `srun --version` says it.
std::string OwnRelease() {
  const auto stamp = hw::ReadElfNumber(Plugin(), "plugin_version");
  const auto number = [&](int shift) { return std::to_string((stamp.value_or(0) >> shift) & 0xff); };
  const std::string minor = number(8);
  return "slurm-wlm " + number(16) + (minor.size() == 1 ? ".0" : ".") + minor + ".8\n";
}

Files Installed(const std::string& line) {
  return {{"etc/slurm/slurm.conf", "ClusterName=c\n"},
          {"etc/slurm/plugstack.conf", "include plugstack.conf.d/*.conf\n"},
          {"etc/slurm/plugstack.conf.d/nccl_tune.conf", line},
          {"usr/lib/nccl-tune/spank_nccl_tune.so", Plugin()}};
}

const std::string kLine = "optional /usr/lib/nccl-tune/spank_nccl_tune.so";

Diagnosis Look(const Files& files, const base::Environment& environment = {},
               std::optional<std::string> release = OwnRelease()) {
  hw::Capture capture;
  for (const auto& [path, text] : files) capture.entries.emplace(path, hw::CaptureFile{text});
  return Diagnose(hw::CaptureTree(std::move(capture)),
                  {.environment = environment, .node = "n1", .release = std::move(release)});
}

// The text of the first line with this label, and lines that go on joined; empty: there is none.
std::string Said(const Diagnosis& diagnosis, const std::string& label) {
  const auto begin = ("\n" + diagnosis.text).find("\n" + label + std::string(10 - label.size(), ' '));
  if (begin == std::string::npos) return "";
  std::string out = diagnosis.text.substr(begin + 10);
  for (std::size_t at; (at = out.find("\n          ")) != std::string::npos;) out.replace(at, 11, " ");
  return out.substr(0, out.find('\n'));
}

std::string Verdict(const Diagnosis& diagnosis) { return Said(diagnosis, "verdict"); }

TEST(DoctorTest, AWellInstalledPlugin) {
  const auto got = Look(Installed(kLine + "\n"));
  EXPECT_TRUE(got.is_well) << got.text;
  EXPECT_EQ(Verdict(got), "loaded; active in jobs that ask: srun --nccl-tune");
  EXPECT_NE(got.text.find("from      /etc/slurm/plugstack.conf.d/nccl_tune.conf:1: optional"), std::string::npos);
  EXPECT_NE(got.text.find("policy    /etc/nccl-tune/nccl-tune.toml: none, so detection decides\n"), std::string::npos);
}

TEST(DoctorTest, WhatElseIsWell) {
  const std::string asks = "loaded; active in jobs that ask: srun --nccl-tune";
  const struct {
    const char* what;
    std::string line;
    const char* policy;  // nullptr: none
    std::string verdict;
    std::string note;
  } kRows[] = {
      {"a default", kLine + " default=auto timeout_ms=9\n", nullptr,
       "loaded; active in every job (auto) that does not say --nccl-tune=off", ""},
      {"a default of off", kLine + " default=off\n", nullptr, asks, ""},
      {"a policy that says nothing", kLine + " default=policy\n", "", asks, ""},
      {"no policy to ask", kLine + " default=policy\n", nullptr, asks,
       "default=policy without a policy: jobs that say nothing get nothing"},
      {"a policy that says auto", kLine + " default=policy\n", "mode = \"auto\"\n",
       "loaded; active in every job (auto) that does not say --nccl-tune=off", ""},
      {"a policy that is not asked for defaults", kLine + "\n", "mode = \"auto\"\n", asks,
       "mode in the policy has no effect on jobs that say nothing: the default is off. Write default=policy behind the "
       "path in /etc/slurm/plugstack.conf.d/nccl_tune.conf:1"},
      {"a policy that turns it off", kLine + " default=auto\n", "mode = \"off\"\n",
       "loaded; turned off here by the site's policy, line 1", ""},
      {"a block for a partition", kLine + " default=policy\n", "[[when]]\npartition = \"gpu\"\nmode = \"auto\"\n",
       asks + "; by blocks of the policy otherwise; partition gpu: every job (auto) (line 3)", ""},
      {"required", "required /usr/lib/nccl-tune/spank_nccl_tune.so\n", nullptr, asks,
       "required: where the plugin is missing or of another release, no job starts and slurmd does not either. Write "
       "optional in /etc/slurm/plugstack.conf.d/nccl_tune.conf:1"},
      {"pyxis after it", kLine + "\noptional /usr/lib/spank_pyxis.so\n", nullptr, asks,
       "pyxis comes after it, in /etc/slurm/plugstack.conf.d/nccl_tune.conf:2: what a container image sets is then not "
       "seen. Load it after that line"},
  };
  for (const auto& row : kRows) {
    Files files = Installed(row.line);
    if (row.policy != nullptr) files["etc/nccl-tune/nccl-tune.toml"] = row.policy;
    const auto got = Look(files);
    EXPECT_TRUE(got.is_well) << row.what;
    EXPECT_EQ(Verdict(got), row.verdict) << row.what;
    EXPECT_EQ(Said(got, "note"), row.note) << row.what;
  }
}

// Loaded, and yet not what somebody meant it to be.
TEST(DoctorTest, Faults) {
  const std::string loaded = "loaded; active in jobs that ask: srun --nccl-tune. But 1 fault above";
  const std::string line = "/etc/slurm/plugstack.conf.d/nccl_tune.conf:1";
  const struct {
    std::string arguments;
    const char* policy;  // nullptr: none
    std::string fault;
  } kRows[] = {
      {"", "mode = off\n", "/etc/nccl-tune/nccl-tune.toml:1: site policy ignored, detection alone decides: "},
      {"default=on", nullptr, "the plugin ignores default=on: "},
      {"defalt=auto", nullptr, "the plugin ignores defalt=auto: unknown argument: got \"defalt=auto\""},
      {"timeout_ms=99999", nullptr, "the plugin ignores timeout_ms=99999: bad timeout_ms: got \"99999\""},
      {"policy=rel.toml", nullptr, "the plugin ignores policy=rel.toml: bad policy: got \"rel.toml\""},
  };
  for (const auto& row : kRows) {
    Files files = Installed(kLine + " " + row.arguments + "\n");
    if (row.policy != nullptr) files["etc/nccl-tune/nccl-tune.toml"] = row.policy;
    const auto got = Look(files);
    EXPECT_FALSE(got.is_well) << row.fault;
    EXPECT_EQ(Verdict(got), loaded);
    EXPECT_TRUE(Said(got, "fault").starts_with(row.fault)) << Said(got, "fault");
    const std::string to_do =
        row.policy == nullptr ? " Correct it in " + line : " nccl-tune check-policy /etc/nccl-tune/nccl-tune.toml";
    EXPECT_TRUE(Said(got, "fault").ends_with(to_do)) << got.text;
  }
}

// The policy is the file that the line names, wherever another lies.
TEST(DoctorTest, ThePolicyThatTheLineNames) {
  Files files = Installed(kLine + " default=policy policy=/srv/p.toml\n");
  files["etc/nccl-tune/nccl-tune.toml"] = "mode = \"off\"\n";
  EXPECT_EQ(Said(Look(files), "policy"),
            "/srv/p.toml, named in /etc/slurm/plugstack.conf.d/nccl_tune.conf:1: none, so detection decides");
  files["srv/p.toml"] = "mode = \"auto\"\n";
  auto got = Look(files);
  EXPECT_TRUE(got.is_well) << got.text;
  EXPECT_EQ(Said(got, "policy"), "/srv/p.toml, named in /etc/slurm/plugstack.conf.d/nccl_tune.conf:1: no fault");
  EXPECT_EQ(Verdict(got), "loaded; active in every job (auto) that does not say --nccl-tune=off");
  EXPECT_EQ(Said(got, "note"),
            "NCCL's env plugin reads /etc/nccl-tune/nccl-tune.toml only. Where jobs load it: ln -s /srv/p.toml "
            "/etc/nccl-tune/nccl-tune.toml");
  files["srv/p.toml"] = "mode = 1\n";
  got = Look(files);
  EXPECT_FALSE(got.is_well);
  EXPECT_TRUE(Said(got, "fault").starts_with("/srv/p.toml:1: site policy ignored")) << got.text;
}

// Files that root can read, and users cannot.
TEST(DoctorTest, ClosedFiles) {
  struct ClosedTree : hw::CaptureTree {
    ClosedTree(hw::Capture capture, std::string path) : CaptureTree(std::move(capture)), closed(std::move(path)) {}
    std::string FindClosed(std::string_view path) const override { return path == closed ? "closed: chmod" : ""; }
    std::string closed;
  };
  const struct {
    const char* path;
    const char* fault;
  } kRows[] = {
      {"etc/nccl-tune/nccl-tune.toml", "users' jobs do not take the policy: closed: chmod"},
      {"etc/slurm/plugstack.conf", "users' srun cannot read /etc/slurm/plugstack.conf: closed: chmod"},
      {"etc/slurm/plugstack.conf.d/nccl_tune.conf",
       "users' srun cannot read /etc/slurm/plugstack.conf.d/nccl_tune.conf: closed: chmod"},
      {"usr/lib/nccl-tune/spank_nccl_tune.so",
       "users' srun cannot load /usr/lib/nccl-tune/spank_nccl_tune.so: closed: chmod"},
  };
  for (const auto& row : kRows) {
    hw::Capture capture;
    Files files = Installed(kLine + "\n");
    files["etc/nccl-tune/nccl-tune.toml"] = "";
    for (const auto& [path, text] : files) capture.entries.emplace(path, hw::CaptureFile{text});
    const auto got =
        Diagnose(ClosedTree(std::move(capture), row.path), {.environment = {}, .node = "n1", .release = OwnRelease()});
    EXPECT_FALSE(got.is_well) << row.path;
    EXPECT_EQ(Said(got, "fault"), row.fault);
  }
}

TEST(DoctorTest, WhyItIsNotLoaded) {
  const auto without = [](const char* path) {
    Files files = Installed(kLine + "\n");
    files.erase(path);
    return files;
  };
  const auto with = [](const char* path, std::string text) {
    Files files = Installed(kLine + "\n");
    files[path] = std::move(text);
    return files;
  };
  const std::string so = "/usr/lib/nccl-tune/spank_nccl_tune.so";
  const std::string install = ". To do: apt install ./nccl-tune-slurm-plugin.deb";
  const struct {
    Files files;
    std::string verdict;
  } kRows[] = {
      {{}, "not loaded: no Slurm is set up here. If it is elsewhere, run: SLURM_CONF=FILE nccl-tune doctor"},
      {without("etc/slurm/plugstack.conf"),
       "not loaded: there is no /etc/slurm/plugstack.conf. To do: write into /etc/slurm/plugstack.conf, which does not "
       "include /etc/slurm/plugstack.conf.d/nccl_tune.conf: include /etc/slurm/plugstack.conf.d/*.conf"},
      {with("etc/slurm/plugstack.conf", "# nothing\n"),
       "not loaded: no line of /etc/slurm/plugstack.conf names it, nor of a file that it includes. To do: write into "
       "/etc/slurm/plugstack.conf, which does not include /etc/slurm/plugstack.conf.d/nccl_tune.conf: include "
       "/etc/slurm/plugstack.conf.d/*.conf"},
      {without("etc/slurm/plugstack.conf.d/nccl_tune.conf"),
       "not loaded: no line of /etc/slurm/plugstack.conf names it, nor of a file that it includes. To do: write into "
       "a new /etc/slurm/plugstack.conf.d/zz-nccl_tune.conf: optional " +
           so},
      {with("etc/slurm/slurm.conf", "PlugStackConfig=/srv/stack.conf\n"),
       "not loaded: there is no /srv/stack.conf. To do: write into /srv/stack.conf: optional " + so},
      {without("usr/lib/nccl-tune/spank_nccl_tune.so"), "not loaded: there is no " + so + install},
      {with("usr/lib/nccl-tune/spank_nccl_tune.so", "text"),
       "not loaded: " + so + " is no plugin of Slurm's: not a library for 64 bits" + install},
      {with("usr/lib/nccl-tune/spank_nccl_tune.so", ""),
       "not loaded: " + so + " is no plugin of Slurm's: not a library for 64 bits" + install},
      {with("etc/slurm/plugstack.conf.d/nccl_tune.conf", "optional spank_nccl_tune.so\n"),
       "not loaded: there is no /usr/lib/x86_64-linux-gnu/slurm-wlm/spank_nccl_tune.so. To do: copy spank_nccl_tune.so "
       "to "
       "/usr/lib/x86_64-linux-gnu/slurm-wlm/spank_nccl_tune.so"},
      {with("usr/lib/nccl-tune/spank_nccl_tune.so", Another()),
       "not loaded: " + so + " is another plugin of Slurm's" + install},
      {with("etc/slurm/plugstack.conf.d/nccl_tune.conf", kLine + "\r\n"),
       "not loaded: there is no " + so + "\\x0d. To do: copy spank_nccl_tune.so to " + so + "\\x0d"},
  };
  for (const auto& row : kRows) {
    const auto got = Look(row.files);
    EXPECT_FALSE(got.is_well) << row.verdict;
    EXPECT_EQ(Verdict(got), row.verdict);
  }
  const auto gone = Look(Installed(kLine), {{"SLURM_CONF", "/proc/nonexistent"}});
  EXPECT_EQ(
      Verdict(gone),
      "not known: /proc/nonexistent cannot be read: No such file or directory. SLURM_CONF names it: set it right, or "
      "unset it");
  const auto other = Look(Installed(kLine), {}, "slurm 21.08.1");
  EXPECT_FALSE(other.is_well);
  EXPECT_TRUE(Verdict(other).starts_with("not loaded: Slurm 21.08 refuses a plugin made for ")) << other.text;
}

TEST(DoctorTest, WhatIsNotKnownStopsNothing) {
  for (const char* release : {"", "slurm", "slurm 24", "v.x", "99999999999.1"}) {
    const auto got = Look(Installed(kLine), {}, release);
    EXPECT_TRUE(got.is_well) << release;
    EXPECT_NE(got.text.find("of a release that is not known"), std::string::npos) << got.text;
  }
  EXPECT_TRUE(Look(Installed(kLine), {}, std::nullopt).is_well);
  EXPECT_EQ(Verdict(Look(Installed(kLine), {}, std::nullopt)),
            "loaded if Slurm is of that release, which is not known; active in jobs that ask: srun --nccl-tune");
  // Slurm's own plugins tell the release where no command does.
  Files files = Installed(kLine);
  files["usr/lib/x86_64-linux-gnu/slurm-wlm/auth_munge.so"] = Plugin();
  EXPECT_EQ(Verdict(Look(files, {}, std::nullopt)), "loaded; active in jobs that ask: srun --nccl-tune");
}

TEST(DoctorTest, PyxisInAFileOfItsOwn) {
  Files files = Installed(kLine + "\n");
  files["etc/slurm/plugstack.conf.d/pyxis.conf"] = "optional /usr/lib/spank_pyxis.so\n";
  EXPECT_EQ(
      Said(Look(files), "note"),
      "pyxis comes after it, in /etc/slurm/plugstack.conf.d/pyxis.conf:1: what a container image sets is then not "
      "seen. To do: mv /etc/slurm/plugstack.conf.d/nccl_tune.conf /etc/slurm/plugstack.conf.d/zz-nccl_tune.conf");
}

TEST(DoctorTest, TheUsersOwnDefaultAndPlace) {
  Files files = Installed(kLine + "\n");
  files["srv/slurm.conf"] = "PluginDir=/usr/lib/nccl-tune\n";
  files["srv/plugstack.conf"] = "optional spank_nccl_tune.so\noptional spank_nccl_tune.so\n";
  const auto got = Look(files, {{"SLURM_CONF", "/srv/slurm.conf"}, {"NCCL_TUNE", "off\x1b"}});
  EXPECT_TRUE(got.is_well) << got.text;
  EXPECT_NE(got.text.find("you       NCCL_TUNE=off\\x1b is your own default"), std::string::npos) << got.text;
  EXPECT_NE(got.text.find("a second line names it, which does nothing"), std::string::npos) << got.text;
}

TEST(DoctorTest, ASecondFileOfThePlugin) {
  Files files = Installed(kLine + "\noptional /opt/old/spank_nccl_tune.so\n");
  const auto got = Look(files);
  EXPECT_FALSE(got.is_well);
  EXPECT_NE(Said(got, "fault")
                .find("a second line names another file of it, /opt/old/spank_nccl_tune.so, and both act: "
                      "take away /etc/slurm/"),
            std::string::npos)
      << got.text;
}

TEST(DoctorTest, APolicyThatIsNamedAndNotThere) {
  const auto got = Look(Installed(kLine + " policy=/srv/typo.toml\n"));
  EXPECT_TRUE(got.is_well) << got.text;
  EXPECT_NE(got.text.find("the line names a policy that is not here"), std::string::npos) << got.text;
}

}  // namespace
}  // namespace nccl_tune::cli
