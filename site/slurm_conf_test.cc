// SPDX-License-Identifier: Apache-2.0
#include "site/slurm_conf.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hw/capture_tree.h"

namespace nccl_tune::site {
namespace {

// Features joined by commas, "-" where they are not known, with the notes after them.
std::string Read(hw::Capture capture, std::string_view node = "server2", std::string_view path = "") {
  std::vector<facts::Note> notes;
  const auto features = ReadNodeFeatures(hw::CaptureTree(std::move(capture)), path, node, &notes);
  std::string out = features ? "" : "-";
  for (const auto& feature : features.value_or(std::vector<std::string>())) out += (out.empty() ? "" : ",") + feature;
  for (const auto& note : notes) {
    EXPECT_FALSE(note.warns);
    out += " | " + note.where + ": " + note.what.substr(0, note.what.find(';'));
    EXPECT_TRUE(note.what.ends_with("; blocks of the policy with feature do not hold"));
  }
  return out;
}

hw::Capture WithConf(const std::string& text) {
  hw::Capture out;
  out.entries.emplace("etc/slurm/slurm.conf", hw::CaptureFile{text});
  return out;
}

TEST(SlurmConfTest, Good) {
  const struct {
    const char* text;
    const char* features;
  } kRows[] = {
      {"NodeName=server[1-3] CPUs=16 Feature=ib,h200 State=UNKNOWN\n", "ib,h200"},
      {"NodeName=server[1-3] CPUs=16 Features=ib", "ib"},
      {"nodename=server2 FEATURE=a", "a"},
      {"NodeName=server1 Feature=a\nNodeName=server2 Feature=b\nNodeName=server3 Feature=c\n", "b"},
      {"NodeName=server2 CPUs=4\n", ""},
      {"NodeName=DEFAULT Feature=a,b CPUs=2\nNodeName=server[1-9]\n", "a,b"},
      {"NodeName=DEFAULT Feature=a\nNodeName=server[1-9] Feature=b\n", "b"},
      {"NodeName=DEFAULT Feature=a\nNodeName=DEFAULT CPUs=2\nNodeName=server2\n", "a"},
      {"NodeName=server2\nNodeName=DEFAULT Feature=a\n", ""},
      {"NodeName=n2 NodeHostname=server2 Feature=a\nNodeName=server2x NodeHostname=other Feature=b\n", "a"},
      {"NodeName=server2 NodeHostname=other Feature=a\nNodeName=x NodeHostname=server2 Feature=b\n", "b"},
      {"NodeName=server2 \\\n  CPUs=2 \\\n  Feature=a # rest\n", "a"},
      {"NodeName=server2 Feature=\"a,b\" CPUs=2\n", "a,b"},
      {"# NodeName=server2 Feature=x\nNodeName=server2 Feature=a,,b,\r\n", "a,b"},
      {"NodeName=server2 Reason=\"a \\# Feature=x\" Feature=c\n", "c"},
      {"PartitionName=p Nodes=server2 Feature=x\nNodeName=server2 Feature=a", "a"},
      {"  \n\n\\\nNodeName=server2 Feature=a", "a"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(WithConf(row.text)), row.features) << row.text;
}

TEST(SlurmConfTest, Included) {
  hw::Capture capture = WithConf("ClusterName=c\nInclude nodes.conf\n");
  capture.entries.emplace("etc/slurm/nodes.conf", hw::CaptureFile{"include /srv/more\n"});
  capture.entries.emplace("srv/more", hw::CaptureFile{"NodeName=server2 Feature=deep\n"});
  EXPECT_EQ(Read(capture), "deep");
}

TEST(SlurmConfTest, Places) {
  hw::Capture capture;
  capture.entries.emplace("run/slurm/conf/slurm.conf", hw::CaptureFile{"NodeName=server2 Feature=b\n"});
  capture.entries.emplace("srv/slurm.conf", hw::CaptureFile{"NodeName=server2 Feature=c\n"});
  EXPECT_EQ(Read(capture), "b");
  EXPECT_EQ(Read(capture, "server2", "/srv/slurm.conf"), "c");
}

TEST(SlurmConfTest, WhatIsNotKnown) {
  const std::string kFile = "- | etc/slurm/slurm.conf: ";
  const std::string kNothing = kFile + "says nothing about server2";
  for (const char* text :
       {"", "NodeName", "NodeName=", "NodeName Feature=a", "NodeName=server Feature=a", "NodeName=server[1 Feature=a",
        "NodeName=server22 Feature=a", "NodeNames=server2 Feature=a", "Feature=a NodeName=server2", "=", "\\", "#",
        "NodeName=server2#x Feature=a\n\n=", "NodeSet=s Nodes=server2 Feature=a",
        "\x7f"
        "ELF"}) {
    const bool cut = std::string_view(text).starts_with("NodeName=server2#");  // the comment leaves a whole line
    EXPECT_EQ(Read(WithConf(text)), cut ? "" : kNothing) << text;
  }
  EXPECT_EQ(Read(hw::Capture()), "- | slurm.conf: not found, so the node's features are not known");
  EXPECT_EQ(Read(WithConf("NodeName=server2"), ""), kFile + "the node has no name, so its features are not known");
  const std::string kUnread = kFile + "not read, so the node's features are not known: ";
  EXPECT_TRUE(Read(WithConf("include slurm.conf\n")).starts_with(kUnread + "etc/slurm/slurm.conf: more than 32 files"));
  EXPECT_TRUE(Read(WithConf("Include gone\n")).starts_with(kUnread + "etc/slurm/gone: "))
      << Read(WithConf("Include gone\n"));
  hw::Capture forbidden;
  forbidden.entries.emplace("etc/slurm/slurm.conf", hw::CaptureFailure{"EACCES"});
  EXPECT_TRUE(Read(forbidden).starts_with(kUnread)) << Read(forbidden);
}

TEST(SlurmConfTest, Settings) {
  hw::Capture capture = WithConf(
      "PluginDir=/usr/lib/slurm\nplugstackconfig = /srv/stack.conf\nNodeName=a CPUs=2\nInclude more\n# X=1\nY=\"a "
      "b\"\n");
  capture.entries.emplace("etc/slurm/more", hw::CaptureFile{"Z=1\n"});
  const auto got = ReadSlurmSettings(hw::CaptureTree(std::move(capture)), "etc/slurm/slurm.conf");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->at("plugindir"), "/usr/lib/slurm");
  EXPECT_EQ(got->at("plugstackconfig"), "/srv/stack.conf");
  EXPECT_EQ(got->at("y"), "a b");
  EXPECT_EQ(got->at("z"), "1");
  EXPECT_EQ(got->size(), 4U);
  EXPECT_FALSE(ReadSlurmSettings(hw::CaptureTree(hw::Capture()), "etc/slurm/slurm.conf").ok());
}

}  // namespace
}  // namespace nccl_tune::site
