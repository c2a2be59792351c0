// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
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

// The last line's text, and lines that go on joined.
std::string Verdict(const Diagnosis& diagnosis) {
  std::string out = diagnosis.text.substr(diagnosis.text.rfind("verdict") + 10);
  for (std::size_t at; (at = out.find("\n          ")) != std::string::npos;) out.replace(at, 11, " ");
  return out.substr(0, out.find('\n'));
}

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
  } kRows[] = {
      {"a default", kLine + " default=auto timeout_ms=9\n", nullptr,
       "loaded; active in every job (auto) that does not say --nccl-tune=off"},
      {"a default of off", kLine + " default=off\n", nullptr, asks},
      {"a policy that says nothing", kLine + " default=policy\n", "", asks},
      {"a policy that says auto", kLine + " default=policy\n", "mode = \"auto\"\n",
       "loaded; active in every job (auto) that does not say --nccl-tune=off"},
      {"a policy that is not asked for defaults", kLine + "\n", "mode = \"auto\"\n", asks},
      {"a policy that turns it off", kLine + " default=auto\n", "mode = \"off\"\n",
       "loaded, and the site's policy turns it off"},
      {"a broken policy", kLine + "\n", "mode = off\n", asks},
      {"required", "required /usr/lib/nccl-tune/spank_nccl_tune.so\n", nullptr, asks},
  };
  for (const auto& row : kRows) {
    Files files = Installed(row.line);
    if (row.policy != nullptr) files["etc/nccl-tune/nccl-tune.toml"] = row.policy;
    const auto got = Look(files);
    EXPECT_TRUE(got.is_well) << row.what;
    EXPECT_EQ(Verdict(got), row.verdict) << row.what;
    EXPECT_EQ(got.text.find("site policy ignored") != std::string::npos, std::string(row.what) == "a broken policy");
    EXPECT_EQ(got.text.find("required: where the plugin") != std::string::npos, std::string(row.what) == "required");
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
  const struct {
    Files files;
    std::string verdict;
  } kRows[] = {
      {{}, "not loaded: no Slurm is set up here"},
      {without("etc/slurm/plugstack.conf"),
       "not loaded: there is no /etc/slurm/plugstack.conf. Write: optional PATH/spank_nccl_tune.so"},
      {with("etc/slurm/plugstack.conf", "# nothing\n"),
       "not loaded: no line of /etc/slurm/plugstack.conf names it, nor of a file that it includes. Write: optional "
       "PATH/spank_nccl_tune.so"},
      {without("etc/slurm/plugstack.conf.d/nccl_tune.conf"),
       "not loaded: no line of /etc/slurm/plugstack.conf names it, nor of a file that it includes. Write: optional "
       "PATH/spank_nccl_tune.so"},
      {with("etc/slurm/slurm.conf", "PlugStackConfig=/srv/stack.conf\n"),
       "not loaded: there is no /srv/stack.conf. Write: optional PATH/spank_nccl_tune.so"},
      {without("usr/lib/nccl-tune/spank_nccl_tune.so"), "not loaded: there is no " + so},
      {with("usr/lib/nccl-tune/spank_nccl_tune.so", "text"),
       "not loaded: " + so + " is no plugin of Slurm's: not a library for 64 bits"},
      {with("usr/lib/nccl-tune/spank_nccl_tune.so", ""),
       "not loaded: " + so + " is no plugin of Slurm's: not a library for 64 bits"},
      {with("etc/slurm/plugstack.conf.d/nccl_tune.conf", "optional spank_nccl_tune.so\n"),
       "not loaded: there is no /usr/lib/x86_64-linux-gnu/slurm-wlm/spank_nccl_tune.so"},
  };
  for (const auto& row : kRows) {
    const auto got = Look(row.files);
    EXPECT_FALSE(got.is_well) << row.verdict;
    EXPECT_EQ(Verdict(got), row.verdict);
  }
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
}

TEST(DoctorTest, TheUsersOwnDefaultAndPlace) {
  Files files = Installed(kLine + "\n");
  files["srv/slurm.conf"] = "PluginDir=/usr/lib/nccl-tune\n";
  files["srv/plugstack.conf"] = "optional spank_nccl_tune.so\noptional spank_nccl_tune.so\n";
  const auto got = Look(files, {{"SLURM_CONF", "/srv/slurm.conf"}, {"NCCL_TUNE", "off\x1b"}});
  EXPECT_TRUE(got.is_well) << got.text;
  EXPECT_NE(got.text.find("you       NCCL_TUNE=off\\x1b is your own default"), std::string::npos) << got.text;
  EXPECT_NE(got.text.find("a second line names it, which Slurm disables"), std::string::npos) << got.text;
}

}  // namespace
}  // namespace nccl_tune::cli
