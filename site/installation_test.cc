// SPDX-License-Identifier: Apache-2.0
#include "site/installation.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "hw/capture_tree.h"

namespace nccl_tune::site {
namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kConf = "etc/slurm/slurm.conf";
constexpr const char* kStack = "etc/slurm/plugstack.conf";
constexpr const char* kUsual = "etc/nccl-tune/nccl-tune.toml";

Installation Read(const Files& files, const std::string& slurm_conf = "") {
  hw::Capture capture;
  for (const auto& [path, text] : files) capture.entries.emplace(path, hw::CaptureFile{text});
  return ReadInstallation(hw::CaptureTree(std::move(capture)), slurm_conf);
}

Files With(const std::string& arguments) {
  return {{kConf, "ClusterName=c\n"}, {kStack, "optional /usr/lib/spank_nccl_tune.so" + arguments + "\n"}};
}

TEST(InstallationTest, WhichPolicyAndDefault) {
  const struct {
    const char* arguments;
    const char* policy;
    const char* by_default;
  } kRows[] = {
      {"", kUsual, "off"},
      {" default=auto", kUsual, "auto"},
      {" default=policy policy=/srv/p.toml", "srv/p.toml", "policy"},
      {" policy=//srv/p.toml timeout_ms=9", "srv/p.toml", "off"},
      {" policy=/srv/a.toml policy=/srv/b.toml default=auto default=explain", "srv/b.toml", "explain"},
      {" policy=/etc/nccl-tune/nccl-tune.toml", kUsual, "off"},
      {" policy=rel.toml default=on", kUsual, "off"},
      {" policy=/srv/p.toml policy=rel.toml", "srv/p.toml", "off"},
      {" default=auto defalt=off", kUsual, "auto"},
      {" # policy=/srv/p.toml", kUsual, "off"},
  };
  for (const auto& row : kRows) {
    const auto got = Read(With(row.arguments));
    ASSERT_TRUE(got.line) << row.arguments;
    EXPECT_EQ(got.policy, row.policy) << row.arguments;
    EXPECT_EQ(got.names_policy, std::string(row.policy) != kUsual) << row.arguments;
    EXPECT_EQ(got.default_text, row.by_default) << row.arguments;
  }
}

TEST(InstallationTest, WhatThePluginRefuses) {
  const auto got = Read(With(" default=on defalt=auto timeout_ms=99999 policy=rel.toml default=auto\r"));
  std::string refused;
  for (const auto& [argument, error] : got.refused) refused += base::Printable(argument) + ": " + error.what + "\n";
  EXPECT_EQ(refused,
            "defalt=auto: unknown argument\ndefault=auto\\x0d: unknown mode\ndefault=on: unknown mode\n"
            "policy=rel.toml: bad policy\ntimeout_ms=99999: bad timeout_ms\n");
  EXPECT_EQ(WhereIs(*got.line), "/etc/slurm/plugstack.conf:1");
}

TEST(InstallationTest, WhereThereIsNoLine) {
  EXPECT_EQ(Read({}).slurm_conf, "");
  EXPECT_EQ(Read({}).policy, kUsual);
  EXPECT_FALSE(Read({{kConf, ""}}).plugstack.is_read);
  EXPECT_EQ(Read({{kConf, ""}}).stack, kStack);
  EXPECT_FALSE(Read({{kConf, ""}, {kStack, "# nothing\n"}}).line);
  const auto gone = Read({}, "/proc/nonexistent");
  ASSERT_TRUE(gone.unread);
  EXPECT_EQ(gone.slurm_conf, "proc/nonexistent");
  EXPECT_EQ(gone.policy, kUsual);
}

TEST(InstallationTest, OtherPlaces) {
  Files files = With(" policy=/srv/p.toml");
  files["srv/slurm.conf"] = "PlugStackConfig=/etc/slurm/plugstack.conf\nPluginDir=/a:/b\n";
  files.erase(kConf);
  const auto got = Read(files, "/srv/slurm.conf");
  EXPECT_EQ(got.policy, "srv/p.toml");
  EXPECT_EQ(got.plugin_dirs, (std::vector<std::string>{"/a", "/b"}));
}

}  // namespace
}  // namespace nccl_tune::site
